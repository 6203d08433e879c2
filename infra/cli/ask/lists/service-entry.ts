/** A service in a list of services. */
import type { Cause } from '#infra/cli/ask/answer/cause.ts';
import type { Count } from '#infra/cli/ask/answer/data-types.ts';
import type { Health } from '#infra/cli/ask/answer/health.ts';
import type { Reach } from '#infra/cli/ask/answer/reach.ts';
import type { ServiceState } from '#infra/cli/ask/explain/explanation.ts';
import type { WriterFor } from '#shared/clusters/writer/writer-for.ts';
import type { Controller } from '#shared/kube/controllers.ts';

export interface ServiceData {
  readonly namespace: string;
  /** ClusterIP, NodePort, LoadBalancer, ExternalName or headless */
  readonly type: string;
  readonly state: ServiceState | null;
  /** Null if what is served is not known, as of a Service of another controller. */
  readonly reach: Reach | null;
  /** The worst first. */
  readonly causes: readonly Cause[];
  readonly service: string;
  /** Selected pods that run. Null if what is served is not known. */
  readonly selected: Count | null;
  /** Those that can be reached. */
  readonly ready: Count | null;
  /** The first sentence of `explain`. */
  readonly message: string;
  /** Null without a hub. */
  readonly writers: { readonly [C in Controller]: WriterFor['writer'] } | null;
  /** Shadow mode has confirmed a difference. Null without a hub. */
  readonly differs: boolean | null;
}

export interface ServiceEntry {
  readonly data: ServiceData;
  /** Null if nobody wants it to be reached, or others see to it. */
  readonly health: Health | null;
  /** The writer of its endpoints in a few words, and the reason in a sentence. Empty without a hub. */
  readonly writer: string;
  readonly why: string;
}
