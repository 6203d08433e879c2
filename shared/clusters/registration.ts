/**
 * How a cluster becomes known, and where its queues and its API are: written by register at a deploy, by `fleet-endpoints cluster register` and
 * `rebuild`, and by a local run.
 */

import { type ClusterSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import type { OptIn } from '#shared/opt-in/writer.ts';
import { accessKey, clusterIndexKey, metaKey, queueKey } from '#shared/store/keys.ts';
import type { Table, Value } from '#shared/store/table.ts';
import { type ClustersetMembership, noteImporter } from './clusterset-membership.ts';
import { isMode, isRegistered, type Mode, rebuilding } from './mode.ts';
import { type ApiAccess, historySince, madeAt, type QueueUrls } from './record.ts';
import { keptMembership, registeredMembership } from './registered-membership.ts';

export interface Registration {
  readonly id: string;
  readonly mode: Mode;
  /** `off` if left out. */
  readonly optIn?: OptIn;
  /** Left out for a cluster that takes no part in a set. */
  readonly clusterset?: ClustersetMembership;
  readonly settings?: Partial<ClusterSettings>;
  readonly queues?: QueueUrls;
  /** ARNs of its events and syncs queues: who sends to the first speaks for the cluster, nobody else. */
  readonly eventsArn?: string;
  readonly syncsArn?: string;
  readonly api?: ApiAccess;
}

/** Until when a run of sweep may be purging the records of a cluster that was taken out of the configuration, ms since the epoch (removal.ts). */
export const purgingUntil = 'clearedUntil';

const idShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The records of the former cluster of that id are being purged: it can be registered again within a minute. */
export class PurgeInProgress extends Error {
  override readonly name = 'PurgeInProgress';
}

/** Of the text of settings: for how long the history is kept changes nothing that a run does. */
const whatRunsGoBy = (settings: string): string => JSON.stringify({ ...(JSON.parse(settings) as Partial<ClusterSettings>), historyDays: undefined });

/**
 * Makes the cluster known, or changes its settings. What the cluster has told so far (identity, lists, versions) and, for one that
 * is known already, its mode stay: a deploy must not undo a switch by hand. One that was taken out comes back as if it were new, in the mode given.
 * Resolves to the mode that it was taken out with, if so.
 */
export async function registerCluster(table: Table, cluster: Registration, now = Date.now()): Promise<Mode | undefined> {
  if (!idShape.test(cluster.id)) {
    throw new RangeError(`cluster id ${JSON.stringify(cluster.id)}: 1 to 63 of a-z, 0-9 and "-" are allowed, not beginning or ending with "-"`);
  }
  const settings = JSON.stringify(cluster.settings ?? {});
  const access = { ...(cluster.queues && { queues: JSON.stringify(cluster.queues) }), ...(cluster.api && { api: JSON.stringify(cluster.api) }) };
  const before = await table.get(metaKey(cluster.id));
  const { membership, attributes, isChanged: joins } = registeredMembership(before, cluster.clusterset);
  await noteImporter(table, cluster.id, membership);
  const former = before?.['settings'] as string | undefined;
  const optsIn = before?.['optIn'] === undefined && cluster.optIn !== undefined && cluster.optIn !== 'off';
  // As after a switch of mode: under the former settings something may count as done that is not (a part that was off, another size of slices).
  const changes = former !== undefined && (whatRunsGoBy(former) !== whatRunsGoBy(settings) || optsIn || joins);
  const keptSince = longerKeptSince(former, settings, now);
  const known = await table.update(
    metaKey(cluster.id),
    {
      set: { settings, ...attributes, ...(changes && { wakeAll: 1 }), ...(keptSince !== undefined && { [historySince]: keptSince }) },
      setIfAbsent: { mode: cluster.mode, modeSince: now, ...optInOf(cluster, now), inc: 1, [madeAt]: now, ...(!changes && { epoch: 0 }) },
      ...(changes && { add: { epoch: 1 } }),
    },
    { any: [{ absent: 'mode' }, isRegistered] },
  );
  const left = known ? undefined : await reregister(table, cluster, { settings, ...attributes }, now);
  await ownQueues(table, cluster, access);
  // Not a put: the index also says whether the cluster imports (clusterset-membership.ts).
  await table.update(clusterIndexKey(cluster.id), { set: { cluster: cluster.id } });
  return left;
}

/** Records older than the former setting have expired. Returns undefined if the new setting keeps history no longer than the former one. */
function longerKeptSince(former: string | undefined, settings: string, nowMs: number): number | undefined {
  const days = (text: string): number => (JSON.parse(text) as Partial<ClusterSettings>).historyDays ?? defaultSettings.historyDays;
  return former !== undefined && days(settings) > days(former) ? nowMs - days(former) * 86_400_000 : undefined;
}

/** `off` is not written: the first other value of clusters.yaml then takes effect, because no operator has switched it by hand. */
function optInOf({ optIn }: Pick<Registration, 'optIn'>, nowMs: number): { readonly [attribute: string]: Value } {
  return optIn && optIn !== 'off' ? { optIn, optInSince: nowMs } : {};
}

/** Queues that were replaced may still hold messages, so they stay the cluster's until it leaves. */
async function ownQueues(table: Table, { id, eventsArn, syncsArn }: Registration, access: { readonly [attribute: string]: string }): Promise<void> {
  const present = [eventsArn, syncsArn].filter((arn) => arn !== undefined);
  const arns = new Set([...(await ownedQueues(table, id)), ...present]);
  await table.put({ ...accessKey(id), ...access, ...(arns.size > 0 && { queueArns: JSON.stringify([...arns]) }) });
  for (const arn of present) await table.put({ ...queueKey(arn), cluster: id });
}

async function ownedQueues(table: Table, cluster: string): Promise<readonly string[]> {
  const text = (await table.get(accessKey(cluster)))?.['queueArns'];
  return typeof text === 'string' ? (JSON.parse(text) as string[]) : [];
}

/** Of a cluster that has left: where its API is, and whose its queues were. Nobody else may delete these records. */
export async function giveUpAccess(table: Table, cluster: string): Promise<void> {
  for (const arn of await ownedQueues(table, cluster)) await table.delete(queueKey(arn), { attribute: 'cluster', is: '=', value: cluster });
  await table.delete(accessKey(cluster));
}

/** While it was away others wrote its endpoints and nobody told us, so what is left of the snapshot counts for nothing until its first lists are in. */
async function reregister(
  table: Table,
  { id, mode, ...more }: Registration,
  set: { readonly [attribute: string]: Value },
  nowMs: number,
): Promise<Mode> {
  const former = await table.get(metaKey(id));
  const number = (attribute: string): number => (former?.[attribute] as number | undefined) ?? 0;
  const raised = { inc: number('inc') + 1, epoch: number('epoch') + 1, nodes: number('nodes') + 1 };
  const back = await table.put(
    {
      ...metaKey(id),
      ...set,
      ...(former?.[rebuilding] !== undefined && keptMembership(former)),
      ...raised,
      mode,
      modeSince: nowMs,
      ...optInOf(more, nowMs),
      [madeAt]: nowMs,
      wakeAll: 1,
    },
    {
      all: [
        { attribute: 'inc', is: '=', value: number('inc') },
        { any: [isMode('draining'), isMode('removed')] },
        { any: [{ absent: purgingUntil }, { attribute: purgingUntil, is: '<=', value: nowMs }] },
      ],
    },
  );
  if (!back) throw new PurgeInProgress(`what is known of the former cluster ${id} is being cleared: it can be added again in a minute`);
  return former?.['mode'] as Mode;
}
