/**
 * Returns the exports and imports to wake for the objects that a batch has written (docs/use/clusterset.md). A
 * cluster outside of sets costs no read.
 */

import type { BatchContext, PendingNotification } from '#functions/ingest/batch/batch-context.ts';
import { selectorsOf } from '#functions/ingest/wake-ups/selectors.ts';
import { readClusterState } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { derivedPrefix } from '#shared/clusterset/contract/clusterset-names.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import {
  exportsAnything,
  importsAnything,
  mayExport,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { namesInSet } from '#shared/clusterset/store/clusterset-index.ts';
import { importWakeUps } from '#shared/clusterset/wake-ups/member-wake-ups.ts';
import { concurrently } from '#shared/concurrently.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Pod } from '#shared/kube/types.ts';
import { firstNamesOf, type ObjectName, objectNamesIn } from '#shared/store/inputs/object-keys.ts';
import { decodeObjectOf, isAlive, objectPages } from '#shared/store/inputs/objects.ts';
import { listed } from '#shared/store/pages.ts';
import { WakeUps } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeUp } from '#shared/workqueue/rules/message.ts';
import { hasNewZone } from './zone-wakes.ts';

/** Pods of one page: each may have 64 KB and its former labels, and four namespaces are read at a time. */
const podsPerPage = 200;

/** `woken` are the services that the batch wakes for changes of their inputs. */
export async function concernedByBatch(
  given: BatchContext,
  woken: readonly WakeUp[],
): Promise<readonly WakeUp[]> {
  // A switch since the batch read the cluster's record may have woken everything before the batch wrote its
  // objects.
  const batch = {
    ...given,
    cluster: { ...given.cluster, ...(await readClusterState(given.deps.table, given.cluster.id)) },
  };
  const wakeUps = new WakeUps();
  if (exportsAnything(batch.cluster)) await wakeExports(batch, woken, wakeUps);
  if (importsAnything(batch.cluster)) await wakeImports(batch, wakeUps);
  return wakeUps.all;
}

async function wakeExports(batch: BatchContext, woken: readonly WakeUp[], wakeUps: WakeUps): Promise<void> {
  const { cluster, store, effects } = batch;
  const membership = membershipOf(cluster);
  for (const { kind, record, observedAtMs } of effects.pending)
    if (kind === 'ServiceExport')
      wakeUps.add(wakeUp(record.namespace, record.name, { kind: 'export', observedAtMs }));
  const allowed = [...Map.groupBy(woken, (w) => w.namespace)].filter(([namespace]) =>
    mayExport(membership, namespace),
  );
  await concurrently(8, allowed, async ([namespace, services]) => {
    // Read after the pods were written: an export that is written later reads them itself.
    const concerned = new Map(services.map((w) => [w.name, w]));
    for await (const { name } of objectNamesIn(store, 'ServiceExport', namespace)) {
      const woken = concerned.get(name);
      if (woken) wakeUps.add({ ...woken, readFromApiServer: false, kind: 'export' });
    }
  });
  await wakeExportsOnNodes(batch, wakeUps);
}

/**
 * Imported endpoints have the zone of their Pod's Node, which may become known after the Pod. The cluster's
 * own services do not run for that, as upstream's do not; an importer may prefer endpoints by their zone.
 */
async function wakeExportsOnNodes(batch: BatchContext, wakeUps: WakeUps): Promise<void> {
  const { cluster, store, effects } = batch;
  const isMoved = ({ kind, record, isZoneKept }: PendingNotification): boolean =>
    kind === 'Node' && isAlive(record) && isZoneKept !== true;
  const moved = new Set(effects.pending.filter(isMoved).map(({ record }) => record.name));
  const membership = membershipOf(cluster);
  // Completing the first lists wakes every export.
  if (moved.size === 0 || !hasSynced(cluster)) return;
  const { maxExports: inNamespace, maxExportsOfCluster: inCluster } = batch.deps.limits.sync;
  const exports = await listed(firstNamesOf(store, 'ServiceExport', { inNamespace, inCluster }));
  const allowed = exports.filter((e) => mayExport(membership, e.namespace));
  await concurrently(4, [...Map.groupBy(allowed, (e) => e.namespace)], async ([namespace, exported]) => {
    for (const name of await exportsOnNodes(batch, { namespace, exported, moved }))
      wakeUps.add(wakeUp(namespace, name, { kind: 'export' }));
  });
}

interface OnNodes {
  readonly namespace: string;
  readonly exported: readonly ObjectName[];
  /** Names of Nodes. */
  readonly moved: ReadonlySet<string>;
}

/** Resolves to the names of the exports that select a pod on one of the Nodes. */
async function exportsOnNodes(
  batch: BatchContext,
  { namespace, exported, moved }: OnNodes,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const page of objectPages(batch.store, 'Pod', namespace, podsPerPage)) {
    const onThem = page
      .flatMap((r) => decodeObjectOf('Pod', r) ?? [])
      .filter((pod) => moved.has(pod.spec?.nodeName ?? ''));
    if (onThem.length > 0) for (const name of await selecting(batch, namespace, onThem)) names.add(name);
  }
  return new Set(exported.map(({ name }) => name).filter((name) => names.has(name)));
}

/** Resolves to the names of the Services of the namespace that select one of the pods. */
async function selecting(
  batch: BatchContext,
  namespace: string,
  pods: readonly Pod[],
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const services of selectorsOf(batch, namespace)) {
    const selects = ({ spec }: (typeof services)[number]): boolean =>
      pods.some((pod) => selectorMatches(spec?.selector, pod.metadata.labels));
    names.push(...services.filter(selects).map(({ metadata }) => metadata.name));
  }
  return names;
}

async function wakeImports(batch: BatchContext, wakeUps: WakeUps): Promise<void> {
  const { deps, cluster, effects } = batch;
  const wake = (namespace: string, name: string, delaySeconds = 0): void =>
    wakeUps.add(wakeUp(namespace, name, { kind: 'import', delaySeconds }));
  if (await hasNewZone(batch))
    for (const woken of await importWakeUps(deps.table, cluster)) wakeUps.add(woken);
  for (const { kind, record } of effects.pending)
    if (kind === 'ServiceImport') wake(record.namespace, record.name);
  for (const { namespace, name } of await importsIn(batch, changedNamespaces(batch))) wake(namespace, name);
  await concurrently(8, concernedNames(batch), async ({ namespace, isConcerned, delaySeconds }) => {
    for await (const name of namesInSet(deps.table, membershipOf(cluster).set, namespace))
      if (isConcerned(name)) wake(namespace, name, delaySeconds);
  });
}

const changedNamespaces = ({ effects }: BatchContext): readonly string[] =>
  effects.pending.filter(({ kind }) => kind === 'Namespace').map(({ record }) => record.name);

/** The last export of a name may have ended while the namespace was going. */
async function importsIn(
  { deps, cluster }: BatchContext,
  namespaces: readonly string[],
): Promise<readonly ObjectName[]> {
  const names: ObjectName[] = [];
  for (const namespace of namespaces)
    names.push(
      ...(await listed(
        objectNamesIn({ table: deps.table, cluster: cluster.id }, 'ServiceImport', namespace),
      )),
    );
  return names;
}

interface ConcernedNames {
  readonly namespace: string;
  /** Returns true if a cluster of the set exports the name. */
  readonly isConcerned: (name: string) => boolean;
  readonly delaySeconds?: number;
}

/** A deleted Service has no labels any more, so its import is found by the derived name. */
function concernedNames(batch: BatchContext): readonly ConcernedNames[] {
  const { pending, importedSlices } = batch.effects;
  const ofDerived = (namespace: string, derived: string) => ({
    namespace,
    isConcerned: (name: string) => derivedName(namespace, name) === derived,
  });
  const services = pending
    .filter(({ kind, record }) => kind === 'Service' && record.name.startsWith(derivedPrefix))
    .map(({ record }) => ofDerived(record.namespace, record.name));
  const slices = new Map(importedSlices.map((s) => [`${s.namespace}/${s.derived}`, s]));
  return [
    ...services,
    ...changedNamespaces(batch).map((namespace) => ({ namespace, isConcerned: () => true })),
    ...[...slices.values()].map(({ namespace, derived }) => ({
      ...ofDerived(namespace, derived),
      delaySeconds: slicesDelaySeconds,
    })),
  ];
}

const slicesDelaySeconds = 3;
