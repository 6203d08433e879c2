/** All that `explain` needs to know of a service, read from the snapshot. */

import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainInput, KnownPod } from '#infra/cli/ask/explain/input.ts';
import { listedNames, thereAre } from '#infra/cli/terminal/counted.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { isShadow } from '#shared/clusters/writer/mode.ts';
import { conflictUntilMs } from '#shared/clusters/writer/service-conflict.ts';
import type { Ending } from '#shared/controllers/history/history-record.ts';
import { decodeRecord } from '#shared/controllers/history/text.ts';
import { labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { decodeObjectOf, isAlive, objectsIn, readObject, readObjects } from '#shared/store/inputs/objects.ts';
import { podForAnswers } from '#shared/store/inputs/pod-for-answers.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { recordsSince } from '#shared/store/outputs/history-records.ts';
import { type OutputRecord, readOutputs } from '#shared/store/outputs/outputs.ts';
import { readCounts } from '#shared/store/outputs/service-counts.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { readTriggers } from '#shared/store/triggers.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { unknownService } from './unknown-service.ts';
import { askParts } from './wing.ts';

/** Throws a UsageError with the existing names if the cluster, service or pod does not exist. */
export async function explain(
  table: Table,
  key: ServiceKey,
  now: number,
  pod?: string,
): Promise<Explanation> {
  return (await explainWithInput(table, key, now, pod)).explanation;
}

export interface Explained {
  readonly input: ExplainInput;
  readonly explanation: Explanation;
}

export async function explainWithInput(
  table: Table,
  key: ServiceKey,
  now: number,
  pod?: string,
): Promise<Explained> {
  const input = await readExplainInput(table, key, now);
  const explanation = explainService({ ...input, ...(pod !== undefined && { asked: pod }) });
  return { input, explanation: pod === undefined ? explanation : ofPod(explanation, key, pod) };
}

function ofPod(explanation: Explanation, key: ServiceKey, pod: string): Explanation {
  const pods = explanation.pods.filter((p) => p.pod === pod);
  const { clusterset } = explanation;
  const sources = (clusterset?.sources ?? []).map((source) => ({
    ...source,
    pods: source.pods.filter((p) => p.pod === pod),
  }));
  if (pods.length === 0 && sources.every((s) => s.pods.length === 0)) {
    const known = [...explanation.pods, ...(clusterset?.sources ?? []).flatMap((s) => s.pods)].map(
      (p) => p.pod,
    );
    throw new UsageError(
      `no pod ${pod} in namespace ${key.namespace} of ${key.cluster}: ${key.namespace}/${key.name} concerns ${listedNames(known)}`,
    );
  }
  return {
    ...explanation,
    pods,
    saved: explanation.saved.filter((s) => s.pod === pod),
    ...(clusterset && { clusterset: { ...clusterset, sources } }),
  };
}

async function readExplainInput(table: Table, key: ServiceKey, now: number): Promise<ExplainInput> {
  const cluster = await readCluster(table, key.cluster);
  if (!cluster) throw new UsageError(`no cluster ${key.cluster}: ${thereAre(await listClusters(table))}`);
  const [serviceRecord, podRecords, nodeList, outputs, work, difference, { foreign, hints }, sets] =
    await Promise.all([
      readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
      readObjects({ table, cluster: key.cluster }, 'Pod', key.namespace),
      objectsIn({ table, cluster: key.cluster }, 'Node', ''),
      readSaved(table, key, cluster),
      readWork(table, { ...key, kind: 'service' }),
      readDifference(table, key),
      readCounts(table, key),
      Promise.all(askParts.map((part) => part.explain(table, cluster, key, now))),
    ]);
  const explained = sets.find((set) => set !== undefined);
  // A deleted Service can still be explained while the table has something of it.
  if (!isAlive(serviceRecord) && !explained && !outputs.some((o) => o.object))
    throw await unknownService(table, key);
  const lastEnding = await readLastEnding(table, key, work);
  const { triggers } = await readTriggers(table, key, work.triggers);
  const pods = podRecords.map(
    (r): KnownPod => ({
      name: r.name,
      pod: podForAnswers(r),
      formerLabels: r.unnotifiedLabels ?? [],
    }),
  );
  const nodes = new Map(nodeList.map((node) => [node.metadata.name, node]));
  const withContent = outputs.filter((o) => !o.isMetadataOnly);
  const saved = {
    endpoints: withContent.find((o) => o.kind === 'Endpoints')?.object as Endpoints | undefined,
    slices: withContent.flatMap((o) =>
      o.kind === 'EndpointSlice' && o.object ? [o.object as EndpointSlice] : [],
    ),
    withoutContent: outputs.filter((o) => o.isMetadataOnly).map((o) => o.kind),
  };
  const { namespace, name } = key;
  return {
    cluster,
    namespace,
    name,
    service: decodeObjectOf('Service', serviceRecord),
    pods,
    nodes,
    work,
    triggers,
    hints,
    lastEnding,
    saved,
    difference,
    ...(foreign && now < conflictUntilMs(foreign, cluster) && { conflict: foreign }),
    set: explained,
    moreFacts: askParts.flatMap((part) => part.facts(cluster)),
    now,
  };
}

/** The result of the newest recorded run, if it failed. A success, or a run that is not kept, has none. */
async function readLastEnding(
  table: Table,
  key: ServiceKey,
  { newestRecord }: ExplainInput['work'],
): Promise<Ending | undefined> {
  if (newestRecord === undefined) return undefined;
  for await (const { text } of recordsSince(table, key, newestRecord)) {
    const record = text === undefined ? undefined : decodeRecord(text);
    return Object.values(record?.endings ?? {}).find((e) => e.kind === 'failed');
  }
  return undefined;
}

/**
 * Returns the saved outputs of the cluster's writers: in shadow mode of its own controllers, and of us where
 * Services opt in.
 */
async function readSaved(
  table: Table,
  key: ServiceKey,
  cluster: ClusterRecord,
): Promise<readonly OutputRecord[]> {
  const written = await readOutputs(table, key, 'written');
  if (!isShadow(cluster)) return written;
  const isByOptIn = ({ object }: OutputRecord): boolean =>
    object?.metadata.labels?.[labelSliceManagedBy] === optInManagedBy;
  return [...(await readOutputs(table, key, 'observed')), ...written.filter(isByOptIn)];
}
