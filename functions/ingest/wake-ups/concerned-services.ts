/** Which services have to run because of the objects that a batch wrote. */
import { concurrentlySettled } from '#shared/concurrently.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import { type ServiceSelector, servicesForPod } from '#shared/controllers/membership/services-for-pod.ts';
import { isOverloaded, zoneRatios } from '#shared/controllers/slices/hints/topology.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Node } from '#shared/kube/types.ts';
import { decodeObjectOf, isAlive, objectPages } from '#shared/store/inputs/objects.ts';
import { listHints } from '#shared/store/outputs/service-counts.ts';
import type { BatchContext, PendingNotification } from '../batch/batch-context.ts';
import { selectorsOf } from './selectors.ts';

/** What the batch has noted of its writes before it wakes services. */
export interface NotedWrites {
  /** The version of each set of services, read after the Pods of its namespace were written. */
  readonly versions: ReadonlyMap<string, number | undefined>;
  /**
   * Namespaces whose version or count could not be written. Their services are woken when the messages come
   * again.
   */
  readonly unnoted: ReadonlySet<string>;
}

/**
 * Wakes the services that the batch concerns. A namespace whose Services cannot be read keeps no other one
 * from it. Resolves to the errors.
 */
export async function enqueueConcerned(
  batch: BatchContext,
  { versions, unnoted }: NotedWrites,
): Promise<readonly unknown[]> {
  const { effects } = batch;
  for (const { kind, record, observedAtMs } of effects.pending) {
    if (kind === 'Service' && !unnoted.has(record.namespace))
      effects.wakeForInput(record.namespace, record.name, { observedAtMs });
  }
  const noted = [...podsByNamespace(batch)].filter(([namespace]) => !unnoted.has(namespace));
  const ofPods = await concurrentlySettled(8, noted, async ([namespace, pods]) => {
    for await (const services of selectorsOf(batch, namespace, versions.get(namespace)))
      wakeForPods(batch, namespace, pods, services);
  });
  const hasNodes = effects.pending.some((p) => p.kind === 'Node');
  const ofNodes = await concurrentlySettled(1, hasNodes ? [batch] : [], wakeOverloaded);
  return [...ofPods.failures, ...ofNodes.failures];
}

function podsByNamespace({ effects }: BatchContext): ReadonlyMap<string, readonly PendingNotification[]> {
  return Map.groupBy(
    effects.pending.filter((p) => p.kind === 'Pod'),
    (p) => p.record.namespace,
  );
}

function wakeForPods(
  { cluster, effects }: BatchContext,
  namespace: string,
  pods: readonly PendingNotification[],
  services: readonly ServiceSelector[],
): void {
  const delaySeconds = Math.min(maxDelaySeconds, cluster.settings.batchPeriodSeconds);
  for (const pod of pods) {
    const { observedAtMs } = pod;
    for (const service of concernedByPod(pod, services))
      effects.wakeForInput(namespace, service, { delaySeconds, observedAtMs });
  }
}

/**
 * Upstream's own set (PK-9) if the change is known exactly; otherwise each service that selects any label set
 * which the Pod may have had.
 */
export function concernedByPod(
  { podChange, record }: Pick<PendingNotification, 'podChange' | 'record'>,
  services: readonly ServiceSelector[],
): readonly string[] {
  if (podChange) return servicesForPod(podChange, services);
  const labelSets = [
    ...(record.unnotifiedLabels ?? []),
    ...(isAlive(record) ? [labelsOfProjectedPod(record.projection)] : []),
  ];
  return services
    .filter((s) => labelSets.some((labels) => selectorMatches(s.spec?.selector, labels)))
    .map((s) => s.metadata.name);
}

/** Services whose topology hints no longer fit the Nodes (EV-21). */
async function wakeOverloaded({ deps, cluster, store, effects }: BatchContext): Promise<void> {
  let ratios: ReturnType<typeof zoneRatios> | undefined;
  for await (const { namespace, name, hints } of listHints(deps.table, cluster.id)) {
    ratios ??= zoneRatios(await nodesOf(store));
    if (isOverloaded(hints, ratios)) effects.wakeForInput(namespace, name);
  }
}

async function nodesOf(store: BatchContext['store']): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for await (const page of objectPages(store, 'Node', '', 1_000))
    nodes.push(...page.flatMap((r) => decodeObjectOf('Node', r) ?? []));
  return nodes;
}
