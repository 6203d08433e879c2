/**
 * A cluster's record, put together from the parts of the other modules. Its own are the writer's id, the version of the set of nodes and the access.
 */
import { type ClusterSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import type { OptIn } from '#shared/opt-in/writer.ts';
import { accessKey, metaKey, queueKey, unescaped } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { type CircuitState, decodeCircuit } from './circuit.ts';
import { type ClustersetMembership, decodeMembership } from './clusterset-membership.ts';
import { decodeLists, type ListsState } from './first-lists.ts';
import {
  decodeMode,
  decodeModeSwitch,
  decodeOptIn,
  decodeWithdraws,
  isRegistered,
  type Mode,
  type ModeSwitch,
  optInAttributes,
  rebuilding,
} from './mode.ts';
import { decodeReadiness, type Readiness } from './readiness.ts';
import { decodeRelay, type RelayState } from './relay-state.ts';
import { decodeUnverified, type UnverifiedSession } from './sessions.ts';
import { decodeSource, type SourceRecord } from './source-record.ts';
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

/** A cluster's record, in parts: each part's module has its attributes, decodes them and has a verb for each change. */
export interface ClusterRecord extends CircuitState {
  readonly id: string;
  readonly mode: Mode;
  readonly modeSwitch: ModeSwitch;
  /** `removed` for the minutes of a rebuild. */
  readonly isRebuilding: boolean;
  /** The switch for Services that opt in by annotation, and when it was switched last (ms since the epoch). */
  readonly optIn: OptIn;
  readonly optInSince: number;
  /** The slices of Services that opt in are being deleted, before the switch is off (`opt-in off --withdraw`). */
  readonly withdrawsOptIn: boolean;
  readonly clusterset: ClustersetMembership;
  /** As a source of the other clusters' imports; undefined: it is fresh, or exports nothing. */
  readonly source: SourceRecord | undefined;
  readonly settings: ClusterSettings;
  readonly queues: QueueUrls | undefined;
  readonly api: ApiAccess | undefined;
  /** UID of kube-system; "" until the first relay has told it. */
  readonly uid: string;
  readonly incarnation: number;
  /** When the incarnation began; 0 for the first. */
  readonly incarnationSinceMs: number;
  readonly unverified: UnverifiedSession | undefined;
  readonly lists: ListsState;
  readonly relay: RelayState;
  readonly readiness: Readiness;
  /** A second controller keeps writing our objects: no run writes until an operator has switched the mode. */
  readonly writerConflict: boolean;
  /** Tells this hub's writes to the cluster from another hub's; undefined until the first run that may write. */
  readonly writer: string | undefined;
  /** The hub keeps history since then, ms since the epoch. Older records than `settings.historyDays` have expired. */
  readonly historySinceMs: number;
  /** Version of the set of nodes. */
  readonly nodesVersion: number;
  /**
   * What a warm worker keeps of the cluster goes by numbers in the table, so it holds for this text only: with another incarnation, or in a record that
   * was made again (a table that was lost, a cluster that came back), they may have begun again.
   */
  readonly cacheEpoch: string;
}

/** When the record was made, ms since the epoch. */
export const madeAt = 'madeAt';
/** Set when the history is kept for longer than before. */
export const historySince = 'historySince';
const nodesVersion = 'nodes';
const writer = 'writer';

export async function readCluster(table: Table, cluster: string): Promise<ClusterRecord | undefined> {
  const [item, access] = await Promise.all([table.get(metaKey(cluster)), table.get(accessKey(cluster))]);
  return item && decodeCluster(cluster, item, access);
}

/** `access` is register's record. Addresses and credentials come from it alone: ingest, sync and sweep can write `item`, and would lead the others astray. */
export function decodeCluster(id: string, item: Item, access?: Item): ClusterRecord {
  const text = <T>(of: Item | undefined, attribute: string): T | undefined =>
    typeof of?.[attribute] === 'string' ? (JSON.parse(of[attribute]) as T) : undefined;
  const number = (attribute: string): number => (item[attribute] as number | undefined) ?? 0;
  const mode = decodeMode(item);
  const optIn = decodeOptIn(item);
  const clusterset = decodeMembership(item);
  return {
    id,
    mode,
    modeSwitch: decodeModeSwitch(item),
    isRebuilding: item[rebuilding] !== undefined,
    optIn,
    optInSince: number(optInAttributes.since),
    withdrawsOptIn: decodeWithdraws(item),
    clusterset,
    source: decodeSource(item),
    settings: { ...defaultSettings, ...text<Partial<ClusterSettings>>(item, 'settings') },
    queues: text(access, 'queues'),
    api: text(access, 'api'),
    uid: (item['uid'] as string | undefined) ?? '',
    incarnation: number('inc'),
    incarnationSinceMs: number('incSince'),
    unverified: decodeUnverified(item),
    lists: decodeLists(item),
    relay: decodeRelay(item),
    readiness: decodeReadiness(item),
    ...decodeCircuit(item, { mode, optIn, clusterset }),
    writerConflict: decodeWriterConflict(item),
    writer: item[writer] as string | undefined,
    historySinceMs: Math.max(number(historySince), number(madeAt)),
    nodesVersion: number(nodesVersion),
    cacheEpoch: `${number('inc')} of ${number(madeAt)}`,
  };
}

/** Gives the hub's writes to the cluster an id, once and for all: a restored table has it still. Resolves to the one that counts. */
export async function nameWriter(table: Table, cluster: string, id: string): Promise<string | undefined> {
  const named = await table.update(metaKey(cluster), { set: { [writer]: id } }, { all: [isRegistered, { absent: writer }] });
  return named ? id : ((await table.get(metaKey(cluster)))?.[writer] as string | undefined);
}

/** Raised after each write of a Node; read with the rest of the record, so that workers can keep the nodes. */
export async function raiseNodesVersion(table: Table, cluster: string): Promise<void> {
  await table.update(metaKey(cluster), { add: { [nodesVersion]: 1 } }, { present: 'inc' });
}

export async function listClusters(table: Table): Promise<readonly string[]> {
  return (await table.query('CLUSTERS')).map((item) => unescaped(item.sk));
}

/** The cluster whose queue this is, or undefined. */
export async function clusterOfQueue(table: Table, arn: string): Promise<string | undefined> {
  return (await table.get(queueKey(arn)))?.['cluster'] as string | undefined;
}
