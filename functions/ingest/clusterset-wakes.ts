/** The exports and imports that what a batch has written concerns (docs/clusterset.md). A cluster that takes no part costs nothing here. */

import { exportsAnything, importsAnything } from '#shared/clusters/clusterset-membership.ts';
import { derivedName } from '#shared/clusterset/derived-name.ts';
import { derivedPrefix } from '#shared/clusterset/mcs-names.ts';
import { concurrently } from '#shared/concurrently.ts';
import { namesInSet } from '#shared/store/clusterset-index.ts';
import { readObjects } from '#shared/store/objects.ts';
import { WakeUps } from '#shared/workqueue/add.ts';
import { exportWork, importWork } from '#shared/workqueue/rules/clusterset-items.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import type { BatchContext } from './batch-context.ts';

/** `woken`: the services that the batch wakes. */
export async function concernedByBatch(batch: BatchContext, woken: readonly WakeUp[]): Promise<readonly WakeUp[]> {
  const wakeUps = new WakeUps();
  if (exportsAnything(batch.cluster)) await wakeExports(batch, woken, wakeUps);
  if (importsAnything(batch.cluster)) await wakeImports(batch, wakeUps);
  return wakeUps.all;
}

async function wakeExports({ cluster, store, effects }: BatchContext, woken: readonly WakeUp[], wakeUps: WakeUps): Promise<void> {
  for (const { kind, record, observedAtMs } of effects.pending)
    if (kind === 'ServiceExport') wakeUps.add({ ...soon, namespace: record.namespace, service: exportWork(record.name), observedAtMs });
  const { namespaces } = cluster.clusterset.exports;
  const mayExport = [...Map.groupBy(woken, (w) => w.namespace)].filter(([ns]) => namespaces === 'all' || namespaces.includes(ns));
  await concurrently(8, mayExport, async ([namespace, services]) => {
    // Read after the pods were written: an export that is written later reads them itself.
    const exported = new Set((await readObjects(store, 'ServiceExport', namespace)).map((r) => r.name));
    for (const w of services) if (exported.has(w.service)) wakeUps.add({ ...w, readLive: false, service: exportWork(w.service) });
  });
}

async function wakeImports({ deps, cluster, effects }: BatchContext, wakeUps: WakeUps): Promise<void> {
  const wake = (namespace: string, name: string, delaySeconds = 0): void =>
    wakeUps.add({ ...soon, delaySeconds, namespace, service: importWork(name), observedAtMs: undefined });
  const ofNames: { readonly namespace: string; readonly isConcerned: (name: string) => boolean; readonly delaySeconds?: number }[] = [];
  for (const { kind, record } of effects.pending) {
    const { namespace, name } = record;
    if (kind === 'ServiceImport') wake(namespace, name);
    if (kind === 'Namespace') ofNames.push({ namespace: name, isConcerned: () => true });
    // What is gone does not say whose it was.
    if (kind === 'Service' && name.startsWith(derivedPrefix)) ofNames.push({ namespace, isConcerned: (n) => derivedName(namespace, n) === name });
  }
  const slices = new Map(effects.importedSlices.map((s) => [`${s.namespace}/${s.derived}`, s]));
  for (const { namespace, derived } of slices.values())
    ofNames.push({ namespace, isConcerned: (n) => derivedName(namespace, n) === derived, delaySeconds: slicesDelaySeconds });
  await concurrently(8, ofNames, async ({ namespace, isConcerned, delaySeconds }) => {
    for (const name of await namesInSet(deps.table, cluster.clusterset.set, namespace)) if (isConcerned(name)) wake(namespace, name, delaySeconds);
  });
}

const slicesDelaySeconds = 3;

const soon = { delaySeconds: 0, readLive: false } as const;
