/** The state of a cluster's relay, from its heartbeats. */
import type { RemovalDelay } from '#shared/contract/endpoint-delay.ts';
import type { AnnotatedServices } from '#shared/kube/services.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { absentOr, type Item, numberOf, type Table, textIn } from '#shared/store/table.ts';
import { noVersion, type Version } from '#shared/store/version.ts';
import { type ClusterIncarnation, isIncarnation } from './sessions.ts';

export interface RelayState {
  /** When the queue accepted the newest heartbeat, by AWS's clock, ms since the epoch; 0: none has come. */
  readonly heartbeatAtMs: number;
  /** How long that heartbeat waited in the queue until ingest handled it, whole seconds. */
  readonly queueLagSeconds: number;
  /** How far the clock of the relay's node is ahead of AWS's, whole seconds; negative: behind. */
  readonly clockAheadSeconds: number;
  /** Newest version of each kind that the relay has read. */
  readonly readUpTo: { readonly [K in Kind]: Version };
  /** The API server's version of Kubernetes; undefined before the first heartbeat that names it. */
  readonly kubernetesVersion: string | undefined;
  /** Undefined before the first heartbeat with the numbers. */
  readonly annotated: AnnotatedServices | undefined;
  /** Undefined before a relay has seen enough of them. */
  readonly removals: RemovalDelay | undefined;
}

const attributes = {
  heartbeatAtMs: 'heartbeatAt',
  queueLagSeconds: 'queueLag',
  clockAheadSeconds: 'clockAhead',
  kubernetesVersion: 'kubernetes',
  annotated: 'annotated',
  removals: 'removals',
} as const;
const readUpToAttribute = (kind: Kind): string => `high_${kind}`;

export function decodeRelay(item: Item): RelayState {
  return {
    heartbeatAtMs: numberOf(item, attributes.heartbeatAtMs),
    queueLagSeconds: numberOf(item, attributes.queueLagSeconds),
    clockAheadSeconds: numberOf(item, attributes.clockAheadSeconds),
    readUpTo: Object.fromEntries(
      allKinds.map((kind) => [kind, item[readUpToAttribute(kind)] ?? noVersion]),
    ) as RelayState['readUpTo'],
    kubernetesVersion: textIn(item, attributes.kubernetesVersion),
    annotated: decodeAnnotated(textIn(item, attributes.annotated)),
    removals: decodeRemovals(textIn(item, attributes.removals)),
  };
}

function decodeRemovals(text: string | undefined): RemovalDelay | undefined {
  if (text === undefined) return undefined;
  const [count = 0, withinMs = 0] = text.split(' ').map(Number);
  return { count, withinMs };
}

function decodeAnnotated(text: string | undefined): AnnotatedServices | undefined {
  if (text === undefined) return undefined;
  const [valid = 0, invalid = 0, sliced, stray] = text.split(' ').map(Number);
  return { valid, invalid, ...(sliced !== undefined && stray !== undefined && { sliced, stray }) };
}

/**
 * When ingest handled the newest heartbeat, or up to a second before that. Its relay may be gone since:
 * `heartbeatAtMs` has its age.
 */
export const handledAtMs = ({ heartbeatAtMs, queueLagSeconds }: RelayState): number =>
  heartbeatAtMs + queueLagSeconds * 1000;

const encodeAnnotated = ({ valid, invalid, sliced, stray }: AnnotatedServices): string =>
  [valid, invalid, ...(sliced !== undefined && stray !== undefined ? [sliced, stray] : [])].join(' ');

/** Changes by a heartbeat. */
export type RelayHeartbeat = Pick<RelayState, 'heartbeatAtMs' | 'queueLagSeconds' | 'clockAheadSeconds'> &
  Partial<Pick<RelayState, 'kubernetesVersion' | 'annotated' | 'removals'>> & {
    readonly readUpTo: { readonly [K in Kind]?: Version };
  };

/**
 * Records versions that sweep itself, or the first list of a session, has read. A later session of the relay
 * that begins with older versions belongs to another history.
 */
export async function recordRead(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  readUpTo: RelayHeartbeat['readUpTo'],
): Promise<void> {
  for (const [kind, version] of Object.entries(readUpTo)) {
    const attribute = readUpToAttribute(kind as Kind);
    const isNewer = absentOr(attribute, '<', version);
    await table.update(
      metaKey(id),
      { set: { [attribute]: version } },
      { all: [isIncarnation(incarnation), isNewer] },
    );
  }
}

/**
 * Saves the changes. Resolves to false if a newer heartbeat is recorded already, or the next incarnation has
 * begun.
 */
export async function recordHeartbeat(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  heartbeat: RelayHeartbeat,
): Promise<boolean> {
  const { heartbeatAtMs, queueLagSeconds, clockAheadSeconds, readUpTo } = heartbeat;
  const { kubernetesVersion, annotated, removals } = heartbeat;
  const set: { [attribute: string]: number | string } = { [attributes.heartbeatAtMs]: heartbeatAtMs };
  // Both are usually 0, and then absent: the record is to stay within the kilobyte of one write unit.
  if (queueLagSeconds !== 0) set[attributes.queueLagSeconds] = queueLagSeconds;
  if (clockAheadSeconds !== 0) set[attributes.clockAheadSeconds] = clockAheadSeconds;
  const remove = [attributes.queueLagSeconds, attributes.clockAheadSeconds].filter(
    (attribute) => !(attribute in set),
  );
  if (kubernetesVersion !== undefined) set[attributes.kubernetesVersion] = kubernetesVersion;
  if (annotated) set[attributes.annotated] = encodeAnnotated(annotated);
  if (removals) set[attributes.removals] = `${removals.count} ${removals.withinMs}`;
  for (const [kind, version] of Object.entries(readUpTo)) set[readUpToAttribute(kind as Kind)] = version;
  const isNewer = absentOr(attributes.heartbeatAtMs, '<', heartbeatAtMs);
  return (
    (await table.update(metaKey(id), { set, remove }, { all: [isIncarnation(incarnation), isNewer] })) !==
    undefined
  );
}
