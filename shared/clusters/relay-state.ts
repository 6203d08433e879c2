/** What the heartbeats of a cluster's relay say. */
import { allKinds, type Kind } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Condition, Item, Table } from '#shared/store/table.ts';
import { noVersion, type Version } from '#shared/store/version.ts';
import { type ClusterIncarnation, isIncarnation } from './sessions.ts';

export interface RelayState {
  /** Last heartbeat, by our clock; 0 for none. */
  readonly heartbeatAtMs: number;
  /** Newest version of each kind that the relay has read. */
  readonly readUpTo: { readonly [K in Kind]: Version };
  /** What is to be added to the relay's times to have ours (functions/ingest/session/relay-clock.ts). */
  readonly clockBehindMs: number;
  /** What the last heartbeat alone says of it. */
  readonly lastClockBehindMs: number | undefined;
  /** The API server's version of Kubernetes; undefined before the first heartbeat that names it. */
  readonly kubernetesVersion: string | undefined;
}

const attributes = {
  heartbeatAtMs: 'heartbeatAt',
  clockBehindMs: 'relayBehind',
  lastClockBehindMs: 'relayBehindLast',
  kubernetesVersion: 'kubernetes',
} as const;
const readUpToAttribute = (kind: Kind): string => `high_${kind}`;

export function decodeRelay(item: Item): RelayState {
  const number = (attribute: string): number | undefined => item[attribute] as number | undefined;
  return {
    heartbeatAtMs: number(attributes.heartbeatAtMs) ?? 0,
    readUpTo: Object.fromEntries(allKinds.map((kind) => [kind, item[readUpToAttribute(kind)] ?? noVersion])) as RelayState['readUpTo'],
    clockBehindMs: number(attributes.clockBehindMs) ?? 0,
    lastClockBehindMs: number(attributes.lastClockBehindMs),
    kubernetesVersion: item[attributes.kubernetesVersion] as string | undefined,
  };
}

/** What a heartbeat changes: the kinds of which it has read more, and the clock if it is known. */
export type HeardOfRelay = Pick<RelayState, 'heartbeatAtMs'> &
  Partial<Pick<RelayState, 'clockBehindMs' | 'lastClockBehindMs' | 'kubernetesVersion'>> & { readonly readUpTo: { readonly [K in Kind]?: Version } };

/** Records the versions that sweep has read itself. A later session of the relay that begins with older versions belongs to another history. */
export async function recordRead(table: Table, { id, incarnation }: ClusterIncarnation, readUpTo: HeardOfRelay['readUpTo']): Promise<void> {
  for (const [kind, version] of Object.entries(readUpTo)) {
    const attribute = readUpToAttribute(kind as Kind);
    const isNewer: Condition = { any: [{ absent: attribute }, { attribute, is: '<', value: version }] };
    await table.update(metaKey(id), { set: { [attribute]: version } }, { all: [isIncarnation(incarnation), isNewer] });
  }
}

/** Nothing changes once the next incarnation has begun. */
export async function recordHeartbeat(table: Table, { id, incarnation }: ClusterIncarnation, heard: HeardOfRelay): Promise<void> {
  const { heartbeatAtMs, clockBehindMs, lastClockBehindMs, kubernetesVersion, readUpTo } = heard;
  const set: { [attribute: string]: number | string } = { [attributes.heartbeatAtMs]: heartbeatAtMs };
  if (clockBehindMs !== undefined) set[attributes.clockBehindMs] = clockBehindMs;
  if (lastClockBehindMs !== undefined) set[attributes.lastClockBehindMs] = lastClockBehindMs;
  if (kubernetesVersion !== undefined) set[attributes.kubernetesVersion] = kubernetesVersion;
  for (const [kind, version] of Object.entries(readUpTo)) set[readUpToAttribute(kind as Kind)] = version;
  await table.update(metaKey(id), { set }, isIncarnation(incarnation));
}
