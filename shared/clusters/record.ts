/**
 * A cluster's record, composed of the parts of other modules. This module owns the writer's id, the version
 * of the set of nodes and the access.
 */
import { allToEnd } from '#shared/concurrently.ts';
import { type ClusterSettings, defaultSettings } from '#shared/contract/cluster-settings.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { accessKey, metaKey, queueKey, unescaped } from '#shared/store/keys.ts';
import { type Item, jsonIn, numberOf, type Table, textIn } from '#shared/store/table.ts';
import { type CircuitState, decodeCircuit } from './circuit.ts';
import { decodeLists, type ListsState } from './relay/first-lists.ts';
import { decodeRelay, type RelayState } from './relay/relay-state.ts';
import { decodeUnverified, type UnverifiedSession } from './relay/sessions.ts';
import {
  decodeMode,
  decodeModeSwitch,
  decodeOptIn,
  decodeSetMember,
  decodeWithdraws,
  isRegistered,
  type Mode,
  type ModeSwitch,
  optInAttributes,
  rebuilding,
} from './writer/mode.ts';
import { decodeReadiness, type Readiness } from './writer/readiness.ts';
import { decodeWriterConflict } from './writer/writer-conflict.ts';
import { decodeZones, type ZonesState } from './zones-away.ts';

export interface QueueUrls {
  readonly events: string;
  readonly syncs: string;
  readonly parked: string;
  readonly quarantine: string;
}

/** Address and credentials of the cluster's API. Without them only shadow mode is possible. */
export interface ApiAccess {
  readonly url: string;
  readonly ca?: string;
  readonly auth:
    | {
        readonly type: 'eks';
        readonly clusterName: string;
        readonly region?: string;
        readonly roleArn?: string;
      }
    | { readonly type: 'web-identity'; readonly audience: string }
    | { readonly type: 'secret'; readonly secretArn: string };
}

/**
 * A cluster's record in parts. The module of each part has its attributes, decodes them and has a function
 * for each change.
 */
export interface ClusterRecord extends ClusterState {
  /** For the console alone. */
  readonly labels: { readonly [name: string]: string } | undefined;
  readonly queues: QueueUrls | undefined;
  readonly api: ApiAccess | undefined;
}

/** The parts that runs for other clusters use. The access is another item of the table. */
export interface ClusterState extends CircuitState {
  readonly id: string;
  readonly mode: Mode;
  readonly modeSwitch: ModeSwitch;
  /** The cluster is `removed` during a rebuild. */
  readonly isRebuilding: boolean;
  /**
   * The switch for Services that opt in by annotation, and the time of its last change, ms since the epoch.
   */
  readonly optIn: OptIn;
  readonly optInSince: number;
  /**
   * The slices of Services that opt in are being deleted, before the switch is off (`opt-in off --withdraw`).
   */
  readonly withdrawsOptIn: boolean;
  /**
   * The cluster may be deregistered although slices by opt-in would stay that nobody follows (`opt-in off
   * --abandon`).
   */
  readonly abandonsOptIn: boolean;
  /** The hub writes imports to the cluster, or other clusters import from it. */
  readonly isSetMember: boolean;
  /** Its membership in a set, as text that clusterset-membership.ts decodes. Undefined without any. */
  readonly clusterset: string | undefined;
  /** Its state as a source of imports, as text that source-record.ts decodes. Undefined if it is fresh. */
  readonly source: string | undefined;
  readonly settings: ClusterSettings;
  /** UID of kube-system, or "" until the first relay has reported it. */
  readonly uid: string;
  readonly incarnation: number;
  /** Start of the incarnation, ms since the epoch, or 0 for the first. */
  readonly incarnationSinceMs: number;
  readonly unverified: UnverifiedSession | undefined;
  readonly lists: ListsState;
  readonly relay: RelayState;
  readonly readiness: Readiness;
  /** A second controller keeps writing our objects, so no run writes until an operator switches the mode. */
  readonly writerConflict: boolean;
  /**
   * Id that distinguishes this hub's writes from another hub's. Undefined until the first run that may write.
   */
  readonly writer: string | undefined;
  /** Zones that traffic is to leave. */
  readonly zones: ZonesState;
  /** Start of the history, ms since the epoch. Records older than `settings.historyDays` have expired. */
  readonly historySinceMs: number;
  /** Version of the set of nodes. */
  readonly nodesVersion: number;
  /**
   * The scope of a warm worker's caches. Caches depend on numbers in the table. These may begin again with
   * another incarnation, or with a new record after the loss of the table or a new registration.
   */
  readonly cacheScope: string;
}

/** Time when the record was created, ms since the epoch. */
export const madeAt = 'madeAt';
/** Start of the history. It is set when a setting extends the time of keeping. */
export const historySince = 'historySince';
const nodesVersion = 'nodes';
const writer = 'writer';

export async function readCluster(table: Table, cluster: string): Promise<ClusterRecord | undefined> {
  const [item, access] = await allToEnd([table.get(metaKey(cluster)), table.get(accessKey(cluster))]);
  return item && decodeCluster(cluster, item, access);
}

export async function readClusterState(table: Table, cluster: string): Promise<ClusterState | undefined> {
  const item = await table.get(metaKey(cluster));
  if (!item) return undefined;
  const { labels: _, queues: __, api: ___, ...state } = decodeCluster(cluster, item);
  return state;
}

/**
 * `access` is register's record, the only source of addresses and credentials: ingest, sync and sweep may
 * write `item`, so its values are not trusted.
 */
export function decodeCluster(id: string, item: Item, access?: Item): ClusterRecord {
  const mode = decodeMode(item);
  const optIn = decodeOptIn(item);
  const isSetMember = decodeSetMember(item);
  return {
    id,
    mode,
    modeSwitch: decodeModeSwitch(item),
    isRebuilding: item[rebuilding] !== undefined,
    optIn,
    optInSince: numberOf(item, optInAttributes.since),
    withdrawsOptIn: decodeWithdraws(item),
    abandonsOptIn: item[optInAttributes.abandons] === 1,
    isSetMember,
    clusterset: textIn(item, 'clusterset'),
    source: textIn(item, 'source'),
    settings: { ...defaultSettings, ...jsonIn<Partial<ClusterSettings>>(item, 'settings') },
    labels: jsonIn(access, 'labels'),
    queues: jsonIn(access, 'queues'),
    api: jsonIn(access, 'api'),
    uid: textIn(item, 'uid') ?? '',
    incarnation: numberOf(item, 'inc'),
    incarnationSinceMs: numberOf(item, 'incSince'),
    unverified: decodeUnverified(item),
    lists: decodeLists(item),
    relay: decodeRelay(item),
    readiness: decodeReadiness(item),
    ...decodeCircuit(item, { mode, optIn, isSetMember }),
    writerConflict: decodeWriterConflict(item),
    zones: decodeZones(item),
    writer: textIn(item, writer),
    historySinceMs: Math.max(numberOf(item, historySince), numberOf(item, madeAt)),
    nodesVersion: numberOf(item, nodesVersion),
    cacheScope: `${numberOf(item, 'inc')} of ${numberOf(item, madeAt)}`,
  };
}

/**
 * Sets the id of the hub's writes to the cluster, unless the record has one. A restored table keeps it.
 * Resolves to the valid id.
 */
export async function nameWriter(table: Table, cluster: string, id: string): Promise<string | undefined> {
  const named = await table.update(
    metaKey(cluster),
    { set: { [writer]: id } },
    { all: [isRegistered, { absent: writer }] },
  );
  return named ? id : textIn(await table.get(metaKey(cluster)), writer);
}

/**
 * Raises the version of the set of nodes. Call after each write of a Node. Workers cache the nodes by this
 * version.
 */
export async function raiseNodesVersion(table: Table, cluster: string): Promise<void> {
  await table.update(metaKey(cluster), { add: { [nodesVersion]: 1 } }, { present: 'inc' });
}

export async function listClusters(table: Table): Promise<readonly string[]> {
  return (await table.query('CLUSTERS')).map((item) => unescaped(item.sk));
}

/** Returns the cluster that owns the queue, or undefined. */
export async function clusterOfQueue(table: Table, arn: string): Promise<string | undefined> {
  return textIn(await table.get(queueKey(arn)), 'cluster');
}
