/**
 * All that an explanation needs to know, read from the snapshot: of the cluster, of a namespace and of a
 * service.
 */

import type { ExplainedSet, ExplainInput, KnownPod } from '#infra/cli/ask/explain/input.ts';
import { isObserved } from '#shared/clusters/writer/mode.ts';
import { conflictUntilMs } from '#shared/clusters/writer/service-conflict.ts';
import type { Ending } from '#shared/controllers/history/history-record.ts';
import { decodeRecord } from '#shared/controllers/history/text.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { isOfFormerService } from '#shared/controllers/slices/planned-slice.ts';
import type { EndpointSlice, Endpoints, Node } from '#shared/kube/types.ts';
import { decodeObjectOf, type ObjectRecord, objectsIn, readObjects } from '#shared/store/inputs/objects.ts';
import { podForAnswers } from '#shared/store/inputs/pod-for-answers.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { decodeDeltas } from '#shared/store/outputs/deltas.ts';
import { recordsSince } from '#shared/store/outputs/history-records.ts';
import { newestOutputs } from '#shared/store/outputs/newest-outputs.ts';
import { type OutputRecord, readObservedOutputs, readOutputs } from '#shared/store/outputs/outputs.ts';
import { readCounts } from '#shared/store/outputs/service-counts.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { readTriggers } from '#shared/store/triggers.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { askParts } from './wing.ts';

export async function readNodes(table: Table, cluster: string): Promise<ReadonlyMap<string, Node>> {
  const nodes = await objectsIn({ table, cluster }, 'Node', '');
  return new Map(nodes.map((node) => [node.metadata.name, node]));
}

/** The pods of the namespace. */
export async function readPods(
  table: Table,
  { cluster, namespace }: Pick<ServiceKey, 'cluster' | 'namespace'>,
): Promise<readonly KnownPod[]> {
  return (await readObjects({ table, cluster }, 'Pod', namespace)).map((record) => ({
    name: record.name,
    pod: podForAnswers(record),
    formerLabels: record.unnotifiedLabels ?? [],
  }));
}

interface OfService extends Pick<ExplainInput, 'cluster' | 'namespace' | 'name' | 'pods' | 'nodes' | 'now'> {
  readonly record: ObjectRecord | undefined;
  readonly set?: ExplainedSet | undefined;
}

export async function readServiceInput(table: Table, { record, ...known }: OfService): Promise<ExplainInput> {
  const { cluster, namespace, name, now } = known;
  const key = { cluster: cluster.id, namespace, name };
  const [work, difference, { foreign, hints }] = await Promise.all([
    readWork(table, { ...key, kind: 'service' }),
    readDifference(table, key),
    readCounts(table, key),
  ]);
  const [outputs, lastEnding, { triggers }] = await Promise.all([
    readSaved(table, key, { cluster, work }),
    readLastEnding(table, key, work),
    readTriggers(table, key, work.triggers),
  ]);
  const withContent = outputs.filter((o) => !o.isMetadataOnly);
  const service = decodeObjectOf('Service', record);
  const isPresent = (slice: EndpointSlice): boolean => !service || !isOfFormerService(slice, service);
  return {
    ...known,
    service,
    ...{ work, triggers, hints, lastEnding, difference },
    saved: {
      endpoints: withContent.find((o) => o.kind === 'Endpoints')?.object as Endpoints | undefined,
      slices: withContent
        .flatMap((o) => (o.kind === 'EndpointSlice' && o.object ? [o.object as EndpointSlice] : []))
        .filter(isPresent),
      withoutContent: outputs.filter((o) => o.isMetadataOnly).map((o) => o.kind),
    },
    ...(foreign && now < conflictUntilMs(foreign, cluster) && { conflict: foreign }),
    moreFacts: askParts.flatMap((part) => part.facts(cluster)),
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
  { cluster, work }: Pick<ExplainInput, 'cluster' | 'work'>,
): Promise<readonly OutputRecord[]> {
  const [observed, written] = await Promise.all([
    isObserved(cluster) ? readObservedOutputs(table, key) : [],
    readOutputs(table, key, decodeDeltas(work.deltas)),
  ]);
  if (!isObserved(cluster)) return written;
  const isByOptIn = ({ kind, object }: OutputRecord): boolean =>
    kind === 'EndpointSlice' && object !== undefined && isOptInSlice(object);
  const ofOthers = cluster.modeSwitch.count > 0 ? written.filter((o) => !isByOptIn(o)) : [];
  return [...newestOutputs(observed, ofOthers), ...written.filter(isByOptIn)];
}
