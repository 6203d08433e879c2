/**
 * Registration of a cluster with its queues and API: by register at a deploy, by `fleet-endpoints cluster
 * register` and `rebuild`, and by a local run.
 */

import { concurrently } from '#shared/concurrently.ts';
import { type ClusterSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { accessKey, clusterIndexKey, metaKey, queueKey } from '#shared/store/keys.ts';
import {
  absentOr,
  type Item,
  jsonIn,
  numberOf,
  type Table,
  textIn,
  type Value,
} from '#shared/store/table.ts';
import { registrationParts } from '#shared/wing.ts';
import { type ApiAccess, historySince, madeAt, type QueueUrls } from './record.ts';
import { decodeMode, isMode, isRegistered, type Mode, rebuilding } from './writer/mode.ts';

export interface Registration {
  readonly id: string;
  readonly labels?: { readonly [name: string]: string };
  readonly mode: Mode;
  /** `off` if left out. */
  readonly optIn?: OptIn;
  /** Its membership in a set, which the parts of `registrationParts` read. */
  readonly clusterset?: object;
  readonly settings?: Partial<ClusterSettings>;
  readonly queues?: QueueUrls;
  /** ARNs of the events and syncs queues. Only messages in the events queue count as the cluster's. */
  readonly eventsArn?: string;
  readonly syncsArn?: string;
  readonly api?: ApiAccess;
}

/**
 * Time until which a run of sweep may purge the records of a deregistered cluster, ms since the epoch
 * (removal.ts).
 */
export const purgingUntil = 'clearedUntil';

type Attributes = { readonly [attribute: string]: Value };

const idShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The records of a former cluster with this id are being purged. The cluster can be registered again within a
 * minute.
 */
export class PurgeInProgress extends Error {
  override readonly name = 'PurgeInProgress';
}

/** Returns the settings that affect runs, as text. `historyDays` does not affect them. */
const whatRunsGoBy = (settings: string): string =>
  JSON.stringify({ ...(JSON.parse(settings) as Partial<ClusterSettings>), historyDays: undefined });

/**
 * Registers the cluster or changes its settings. Identity, lists and versions stay. A registered cluster
 * keeps its mode, because a deploy must not undo a manual switch. A deregistered cluster counts as new and
 * gets the given mode. Resolves to the mode of a deregistered cluster, otherwise to undefined.
 */
export async function registerCluster(
  table: Table,
  cluster: Registration,
  now: number,
): Promise<Mode | undefined> {
  checkId(cluster.id);
  const settings = JSON.stringify(cluster.settings ?? {});
  const before = await table.get(metaKey(cluster.id));
  const change = { known: before, given: cluster.clusterset };
  const parts = await concurrently(1, registrationParts, (part) => part.register(table, cluster.id, change));
  const attributes = Object.assign({}, ...parts.map((part) => part.attributes)) as Attributes;
  const joins = parts.some((part) => part.isChanged);
  const former = textIn(before, 'settings');
  // Every service is woken as after a switch of mode, because work that is done by the former settings may
  // not be done by the new ones.
  const changes =
    former !== undefined &&
    (whatRunsGoBy(former) !== whatRunsGoBy(settings) || optsIn(cluster, before) || joins);
  const keptSince = longerKeptSince(former, settings, now);
  const known = await table.update(
    metaKey(cluster.id),
    {
      set: {
        settings,
        ...attributes,
        ...(changes && { wakesPending: 1 }),
        ...(keptSince !== undefined && { [historySince]: keptSince }),
      },
      setIfAbsent: {
        mode: cluster.mode,
        modeSince: now,
        ...optInOf(cluster, now),
        inc: 1,
        [madeAt]: now,
        ...(!changes && { switches: 0 }),
      },
      ...(changes && { add: { switches: 1 } }),
    },
    { any: [{ absent: 'mode' }, isRegistered] },
  );
  const left = known ? undefined : await reregister(table, cluster, { settings, ...attributes }, now);
  await ownQueues(table, cluster, accessOf(cluster));
  await table.put({ ...clusterIndexKey(cluster.id), cluster: cluster.id });
  return left;
}

function checkId(id: string): void {
  if (!idShape.test(id))
    throw new RangeError(
      `cluster id ${JSON.stringify(id)}: 1 to 63 of a-z, 0-9 and "-" are allowed, not beginning or ending with "-"`,
    );
}

/** Returns true if the cluster opts in by this registration, and was never asked before. */
const optsIn = ({ optIn = 'off' }: Registration, before: Item | undefined): boolean =>
  before?.['optIn'] === undefined && optIn !== 'off';

const accessOf = ({ queues, api, labels }: Registration) => ({
  ...(queues && { queues: JSON.stringify(queues) }),
  ...(api && { api: JSON.stringify(api) }),
  ...(labels && { labels: JSON.stringify(labels) }),
});

/**
 * Returns the start of the history if the new setting keeps it for longer than the former one. Older records
 * have expired.
 */
function longerKeptSince(former: string | undefined, settings: string, nowMs: number): number | undefined {
  const days = (text: string): number =>
    (JSON.parse(text) as Partial<ClusterSettings>).historyDays ?? defaultSettings.historyDays;
  return former !== undefined && days(settings) > days(former)
    ? nowMs - days(former) * 86_400_000
    : undefined;
}

/**
 * `off` is not written, so the first other value in clusters.yaml takes effect as long as no operator has
 * switched it.
 */
function optInOf({ optIn }: Pick<Registration, 'optIn'>, nowMs: number): Attributes {
  return optIn && optIn !== 'off' ? { optIn, optInSince: nowMs } : {};
}

/** Replaced queues may still contain messages, so they belong to the cluster until it is removed. */
async function ownQueues(
  table: Table,
  { id, eventsArn, syncsArn }: Registration,
  access: { readonly [attribute: string]: string },
): Promise<void> {
  const present = [eventsArn, syncsArn].filter((arn) => arn !== undefined);
  const arns = new Set([...(await ownedQueues(table, id)), ...present]);
  await table.put({
    ...accessKey(id),
    ...access,
    ...(arns.size > 0 && { queueArns: JSON.stringify([...arns]) }),
  });
  for (const arn of present) await table.put({ ...queueKey(arn), cluster: id });
}

async function ownedQueues(table: Table, cluster: string): Promise<readonly string[]> {
  return jsonIn<readonly string[]>(await table.get(accessKey(cluster)), 'queueArns') ?? [];
}

/** After a rebuild too the switch of a paused cluster back to active has fewer checks. */
const keptWasActive = ({ wasActive }: Item, mode: Mode): { readonly [attribute: string]: Value } =>
  wasActive && mode === 'paused' ? { wasActive } : {};

/** Deletes the records of a removed cluster's access and queues. Only register may delete them. */
export async function giveUpAccess(table: Table, cluster: string): Promise<void> {
  for (const arn of await ownedQueues(table, cluster))
    await table.delete(queueKey(arn), { attribute: 'cluster', is: '=', value: cluster });
  await table.delete(accessKey(cluster));
}

/**
 * Registers a cluster again. Its snapshot is outdated, so a new incarnation begins and runs wait for its
 * first lists.
 */
async function reregister(
  table: Table,
  { id, mode, ...more }: Registration,
  set: Attributes,
  nowMs: number,
): Promise<Mode | undefined> {
  const former = await table.get(metaKey(id));
  const incarnation = numberOf(former, 'inc');
  const raised = {
    inc: incarnation + 1,
    switches: numberOf(former, 'switches') + 1,
    nodes: numberOf(former, 'nodes') + 1,
  };
  const back = await table.put(
    {
      ...metaKey(id),
      ...set,
      ...(former?.[rebuilding] !== undefined && {
        ...Object.assign({}, ...registrationParts.map((part) => part.kept(former))),
        ...keptWasActive(former, mode),
      }),
      ...raised,
      incSince: nowMs,
      mode,
      modeSince: nowMs,
      ...optInOf(more, nowMs),
      [madeAt]: nowMs,
      wakesPending: 1,
    },
    {
      all: [
        { attribute: 'inc', is: '=', value: incarnation },
        { any: [isMode('draining'), isMode('removed')] },
        absentOr(purgingUntil, '<=', nowMs),
      ],
    },
  );
  if (!back)
    throw new PurgeInProgress(
      `the records of the former cluster ${id} are being purged: it can be added again in a minute`,
    );
  return former && decodeMode(former);
}
