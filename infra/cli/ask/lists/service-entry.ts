/** A service in a list of services. */
import type { Cause } from '#infra/cli/ask/answer/cause.ts';
import type { Health } from '#infra/cli/ask/answer/health.ts';
import type { Reach } from '#infra/cli/ask/answer/reach.ts';
import type { ServiceState } from '#infra/cli/ask/explain/explanation.ts';
import type { WriterFor } from '#shared/clusters/writer/writer-for.ts';
import type { Controller } from '#shared/kube/controllers.ts';

export interface ServiceEntry {
  readonly namespace: string;
  readonly name: string;
  /** ClusterIP, NodePort, LoadBalancer, ExternalName or headless */
  readonly type: string;
  /** The writer of its endpoints in a few words, and the reason in a sentence. */
  readonly writer: string;
  readonly why: string;
  readonly writers: { readonly [C in Controller]: WriterFor['writer'] };
  readonly state: ServiceState | null;
  /** Null if what is served is not known, as of a Service of another controller. */
  readonly reach: Reach | null;
  /** Null if nobody wants it to be reached, or others see to it. */
  readonly health: Health | null;
  /** Numbers of selected pods that run, and of those that can be reached. Null if not known. */
  readonly selected: number | null;
  readonly ready: number | null;
  /** The first sentence of `explain`. */
  readonly summary: string;
  /** The worst first. */
  readonly causes: readonly Cause[];
  /** Shadow mode has confirmed a difference. */
  readonly differs: boolean;
}

/** Somebody should look: also a Service that selects no pod. */
export const needsALook = ({ health }: Pick<ServiceEntry, 'health'>): boolean =>
  health !== null && health !== 'good';

export const cannotBeReached = ({ reach }: Pick<ServiceEntry, 'reach'>): boolean => reach === 'Unreachable';
