/** Which of several exports of one name decides where they differ (MC-13, MC-62). */

import type { Locality } from '#shared/clusterset/imports/locality.ts';
import type { Service } from '#shared/kube/types.ts';

/** A valid export of one cluster. */
export interface ExportedService {
  readonly cluster: string;
  /** UID of the ServiceExport. */
  readonly uid: string;
  /** creationTimestamp of the ServiceExport. */
  readonly createdAt: string | undefined;
  /**
   * spec.exportedLabels and spec.exportedAnnotations: nothing else of the two objects is passed on (MC-2).
   */
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  readonly spec: NonNullable<Service['spec']>;
  /** By annotations of the ServiceExport; absent without them. */
  readonly locality?: Locality;
}

export interface Winner {
  readonly cluster: string;
  readonly uid: string;
}

/** `sinceMs`: since when it decides, ms since the epoch. */
type RecordedWinner = Winner & { readonly sinceMs: number };

/** An older export may arrive until then, because relays send independently of each other. */
export const settledAfterMs = 60_000;

/** The export that goes on deciding. Undefined: none has decided for long enough, so the oldest does. */
export function settledWinner(recorded: string | undefined, nowMs: number): Winner | undefined {
  if (recorded === undefined) return undefined;
  const { sinceMs, ...winner } = JSON.parse(recorded) as RecordedWinner;
  return nowMs - sinceMs >= settledAfterMs ? winner : undefined;
}

/** Returns the record to save, or undefined if the recorded winner is still the winner. */
export function winnerToRecord(
  { cluster, uid }: Winner,
  recorded: string | undefined,
  nowMs: number,
): string | undefined {
  const before = recorded === undefined ? undefined : (JSON.parse(recorded) as RecordedWinner);
  if (before?.cluster === cluster && before.uid === uid) return undefined;
  return JSON.stringify({ cluster, uid, sinceMs: nowMs } satisfies RecordedWinner);
}

/**
 * Returns the exports in the order of their precedence: the former winner, then by age, then by cluster. The
 * order of the input has no effect.
 *
 * The API specifies that the oldest export has precedence. Here an export that has had precedence for a minute
 * keeps it while it exists: each cluster reports the creation times of its own exports, so a compromised
 * cluster could make its export the oldest, and change type and ports of an import that carries traffic.
 */
export function inPrecedence(
  exports: readonly ExportedService[],
  winner: Winner | undefined,
): readonly ExportedService[] {
  const isWinner = (e: ExportedService): boolean => e.cluster === winner?.cluster && e.uid === winner.uid;
  return [...exports].sort(
    (a, b) =>
      Number(isWinner(b)) - Number(isWinner(a)) ||
      age(a) - age(b) ||
      order(a.cluster, b.cluster) ||
      order(a.uid, b.uid),
  );
}

/** Without a time that can be read it is the youngest. */
function age({ createdAt }: ExportedService): number {
  const ms = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms;
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
