import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import type { Endpoints, Node, Pod, Service } from '#shared/kube/types.ts';

/** Input of one run of the endpoints controller: plain records, read before the run. */
export interface EndpointsInput {
  readonly namespace: string;
  readonly name: string;
  /** The Service of that name, or undefined when it does not exist. */
  readonly service: Service | undefined;
  /** The pods of the namespace that the service's selector matches, in any order. */
  readonly pods: readonly Pod[];
  /** Every node of the cluster, by name, and the names of the zones that traffic is to leave. */
  readonly nodes?: ReadonlyMap<string, Node> | undefined;
  readonly zonesAway?: ReadonlySet<string> | undefined;
  /** The Endpoints of that name as the API server holds it. */
  readonly current: Endpoints | undefined;
  readonly triggerTimes: TriggerTimes | undefined;
}

export type EndpointsWrite =
  | { readonly verb: 'create'; readonly object: Endpoints }
  | { readonly verb: 'update'; readonly object: Endpoints }
  | { readonly verb: 'delete'; readonly namespace: string; readonly name: string };

export interface EndpointsPlan {
  readonly write: EndpointsWrite | undefined;
  /**
   * The tracker's next state: saved whether or not the write succeeds (TT-14). Undefined: forget it (TT-12).
   */
  readonly triggerTimes: TriggerTimes | undefined;
}
