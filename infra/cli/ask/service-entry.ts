/** A service in a list of services. */
import type { WriterFor } from '#shared/clusters/writer/writer-for.ts';
import type { Controller } from '#shared/kube/controllers.ts';

/** Its pods should be endpoints, and none of them can be: also of a Service that selects no pod. */
export const lacksEndpoints = ({ type, writers, ready }: ServiceEntry): boolean =>
  ready === 0 && type !== 'ExternalName' && writers.slices !== 'nobody';

export interface ServiceEntry {
  readonly namespace: string;
  readonly name: string;
  /** ClusterIP, NodePort, LoadBalancer, ExternalName or headless */
  readonly type: string;
  /** The writer of its endpoints in a few words, and the reason in a sentence. */
  readonly writer: string;
  readonly why: string;
  readonly writers: { readonly [C in Controller]: WriterFor['writer'] };
  /** Numbers of pods that the selector matches, and of ready ones with a port of the Service. */
  readonly selected: number;
  readonly ready: number;
  /** Shadow mode has confirmed a difference. */
  readonly differs: boolean;
}
