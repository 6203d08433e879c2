import { type ClusterSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import type { OptIn } from '#shared/opt-in/writer.ts';
import { accessKey, metaKey, queueKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { noVersion, type Version } from '#shared/store/version.ts';
import { type CircuitState, decodeCircuit } from './circuit.ts';
import { decodeLists, type ListsState } from './first-lists.ts';
import { isRegistered, type Mode } from './mode.ts';
import { decodeUnverified, type UnverifiedSession } from './sessions.ts';
import { decodeWriterConflict } from './writer-conflict.ts';

export interface QueueUrls {
  readonly events: string;
  readonly syncs: string;
  readonly parked: string;
  readonly quarantine: string;
}

/** How the workers reach the cluster's API and what they show it. Absent: only shadow is possible. */
export interface ApiAccess {
  readonly url: string;
  readonly ca?: string;
  readonly auth:
    | { readonly type: 'eks'; readonly clusterName: string; readonly region?: string; readonly roleArn?: string }
    | { readonly type: 'web-identity'; readonly audience: string }
    | { readonly type: 'secret'; readonly secretArn: string };
}

export interface ClusterRecord extends CircuitState {
  readonly id: string;
  /** Tells this hub's writes to the cluster from another hub's; undefined until the first run that may write. */
  readonly writer: string | undefined;
  readonly mode: Mode;
  /** The switch for Services that opt in by annotation, and when it was switched last (ms since the epoch). */
  readonly optIn: OptIn;
  readonly optInSince: number;
  /** Raised by each switch of mode and change of settings; `wakeAll` is set until every service has been woken for it. */
  readonly switchCount: number;
  readonly wakeAll: boolean;
  /** How far a waking has come, which may be a former one (shared/workqueue/add-all.ts). */
  readonly wokenTo: string | undefined;
  readonly incarnation: number;
  /**
   * What a warm worker keeps of the cluster goes by numbers in the table, so it holds for this text only: with another incarnation, or in a record that was
   * made anew (a table that was lost, a cluster that came back), they may have begun anew.
   */
  readonly cacheScope: string;
  /** When it began, ms since the epoch; 0 for the first. */
  readonly incarnationSince: number;
  /** UID of kube-system; "" until the first relay has told it. */
  readonly uid: string;
  readonly settings: ClusterSettings;
  readonly queues: QueueUrls | undefined;
  readonly api: ApiAccess | undefined;
  /** A second controller keeps writing our objects: no run writes until an operator has switched the mode. */
  readonly writerConflict: boolean;
  readonly lists: ListsState;
  readonly high: { readonly [K in Kind]: Version };
  /** Version of the set of nodes. */
  readonly nodesVersion: number;
  /** When the mode was switched last, and when shadow mode last met a difference; ms since the epoch, 0 for never. */
  readonly modeSince: number;
  readonly differenceAt: number;
  /** Paused, and active before. */
  readonly wasActive: boolean;
  /** When all was last found ready for active mode but that the cluster's own controllers still ran; ms since the epoch, 0 for never. */
  readonly readyAt: number;
  /** Last heartbeat, ms since the epoch by our clock; 0 for none. */
  readonly heartbeatAt: number;
  /** What is to be added to the relay's times to have ours, ms, and what the last heartbeat alone said of it (ingest/relay-clock.ts). */
  readonly relayBehindMs: number;
  readonly relayBehindLastMs: number | undefined;
  readonly unverified: UnverifiedSession | undefined;
  /** Which of the writer's rights were missing when sweep asked last (ms since the epoch), while we do not write; or why it got no answer. */
  readonly rights: { readonly at: number; readonly missing: readonly string[]; readonly error?: string } | undefined;
}

/** When the record was made, ms since the epoch. */
export const madeAt = 'madeAt';

/** Attributes in which ingest keeps how far the relay's clock is behind ours. */
export const relayClock = { behind: 'relayBehind', last: 'relayBehindLast' } as const;

export async function readCluster(table: Table, cluster: string): Promise<ClusterRecord | undefined> {
  const [item, access] = await Promise.all([table.get(metaKey(cluster)), table.get(accessKey(cluster))]);
  return item && decodeCluster(cluster, item, access);
}

/**
 * `access`: what register wrote. Without it, as the version before left a cluster until its stack is deployed again, addresses and credentials
 * are in the record itself; where it is, nothing that anybody else can write leads the functions to another server.
 */
export function decodeCluster(id: string, item: Item, access: Item = item): ClusterRecord {
  const text = <T>(of: Item, attribute: string): T | undefined =>
    typeof of[attribute] === 'string' ? (JSON.parse(of[attribute] as string) as T) : undefined;
  const json = <T>(attribute: string): T | undefined => text(item, attribute);
  const number = (attribute: string): number => (item[attribute] as number | undefined) ?? 0;
  const perKind = <T>(prefix: string, none: T) =>
    Object.fromEntries(kinds.map((k) => [k, (item[prefix + k] as T | undefined) ?? none])) as { [K in Kind]: T };
  const mode = (item['mode'] as Mode | undefined) ?? 'shadow';
  const optIn = (item['optIn'] as OptIn | undefined) ?? 'off';
  return {
    id,
    writer: item['writer'] as string | undefined,
    mode,
    optIn,
    optInSince: number('optInSince'),
    switchCount: number('epoch'),
    wakeAll: number('wakeAll') === 1,
    wokenTo: item['wokenTo'] as string | undefined,
    incarnation: number('inc'),
    cacheScope: `${number('inc')} of ${number(madeAt)}`,
    incarnationSince: number('incSince'),
    uid: (item['uid'] as string | undefined) ?? '',
    settings: { ...defaultSettings, ...json<Partial<ClusterSettings>>('settings') },
    queues: text(access, 'queues'),
    api: text(access, 'api'),
    ...decodeCircuit(item, { mode, optIn }),
    writerConflict: decodeWriterConflict(item),
    lists: decodeLists(item),
    high: perKind('high_', noVersion),
    nodesVersion: number('nodes'),
    modeSince: number('modeSince'),
    differenceAt: number('differenceAt'),
    wasActive: number('wasActive') === 1,
    readyAt: number('readyAt'),
    heartbeatAt: number('heartbeatAt'),
    relayBehindMs: number(relayClock.behind),
    relayBehindLastMs: item[relayClock.last] as number | undefined,
    unverified: decodeUnverified(item),
    rights: json('rights'),
  };
}

/** Until when a run of sweep may be clearing the records of a cluster that has left, ms since the epoch (removal.ts). */
export const clearedUntil = 'clearedUntil';

/** Gives the hub's writes to the cluster an id, once and for all: a restored table has it still. Resolves to the one that counts. */
export async function nameWriter(table: Table, cluster: string, id: string): Promise<string | undefined> {
  const named = await table.update(metaKey(cluster), { set: { writer: id } }, { all: [isRegistered, { absent: 'writer' }] });
  return named ? id : ((await table.get(metaKey(cluster)))?.['writer'] as string | undefined);
}

export async function noteDifference(table: Table, cluster: string, now: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { differenceAt: now } });
}

export async function listClusters(table: Table): Promise<readonly string[]> {
  return (await table.query('CLUSTERS')).map((item) => item.sk);
}

/** The cluster whose queue this is, or undefined. */
export async function clusterOfQueue(table: Table, arn: string): Promise<string | undefined> {
  return (await table.get(queueKey(arn)))?.['cluster'] as string | undefined;
}
