/**
 * The history of a service, and its addresses at a time, as data for programs. Their schemas are generated
 * from these types (infra/package/answer-schemas.ts).
 */

import { effectiveMs } from '#infra/cli/ask/history/record-facts.ts';
import { type Filter, filtered, recordKind } from '#infra/cli/ask/history/sentences.ts';
import type { Then } from '#infra/cli/ask/history/then.ts';
import type { HistoryRecord, PodMoves } from '#shared/controllers/history/history-record.ts';
import type { ChangeReason } from '#shared/controllers/verdicts/verdict.ts';
import { controllers } from '#shared/kube/controllers.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { apiVersion, type Count, type Time } from './answer/data-types.ts';
import type { OfBoth } from './explanation-data.ts';

/** A run. */
export interface RunData {
  /** Since then the API server has the changes; by RFC 3339 in UTC. */
  readonly time: Time;
  readonly result: 'Wrote' | 'Failed' | 'HeldBack' | 'WroteNothing';
  readonly generation: Count;
  /**
   * The client that wrote, where the entry is what the relay saw and no run of the hub. Its generation is 0,
   * and its times are those of the relay's observation.
   */
  readonly manager: string | null;
  readonly seenTime: Time | null;
  readonly dueTime: Time | null;
  readonly startTime: Time;
  readonly acceptedTime: Time | null;
  readonly endTime: Time;
  readonly writes: OfBoth;
  readonly deletes: OfBoth;
  /**
   * Number of equal runs in a row that the entry covers.
   *
   * @asType integer
   * @minimum 1
   */
  readonly count: number;
  /** Start of the last of them, by RFC 3339 in UTC. */
  readonly lastStartTime: Time;
  readonly messages: readonly string[];
  readonly changes: readonly ChangeData[];
  /** Number of changed pods that the record does not name. */
  readonly unnamedPods: Count;
}

interface ChangeData {
  /** Null for an address without a pod. */
  readonly pod: string | null;
  readonly address: string;
  readonly place: 'Endpoints' | 'IPv4' | 'IPv6' | 'FQDN';
  /** State, such as `ready`; null if the address was not listed. */
  readonly from: string | null;
  /** Null if the address is not listed any more. */
  readonly to: string | null;
  readonly detail: string | null;
  readonly reason: ChangeReason | null;
  readonly message: string | null;
  /** Another client had written `from`, and the run restored `to`. */
  readonly isRepair: boolean;
}

export interface HistoryData {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'History';
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  /** From the oldest to the newest. */
  readonly runs: readonly RunData[];
  readonly remarks: readonly string[];
}

export const historyData = (
  key: ServiceKey,
  { records, remarks }: { readonly records: readonly HistoryRecord[]; readonly remarks: readonly string[] },
  filter: Filter,
): HistoryData => ({
  ...{ apiVersion, kind: 'History' },
  ...{ cluster: key.cluster, namespace: key.namespace, service: key.name },
  runs: records.map((record) => runData(record, filter)),
  remarks,
});

const results = { wrote: 'Wrote', failed: 'Failed', held: 'HeldBack', found: 'WroteNothing' } as const;

export function runData(record: HistoryRecord, filter: Filter): RunData {
  const endings = controllers.flatMap((c) => record.endings[c]?.text ?? []);
  return {
    time: timeOf(effectiveMs(record)),
    result: results[recordKind(record)],
    generation: record.generation,
    manager: record.by ?? null,
    seenTime: timeOrNull(record.seenMs),
    dueTime: timeOrNull(record.dueMs),
    startTime: timeOf(record.atMs),
    acceptedTime: timeOrNull(record.acceptedMs),
    endTime: timeOf(record.endedMs),
    writes: record.writes,
    deletes: record.deletes ?? { endpoints: 0, slices: 0 },
    count: record.times,
    lastStartTime: timeOf(record.untilMs),
    messages: [
      ...new Set([
        ...(record.heldBack ? [record.heldBack] : []),
        ...endings,
        ...record.notes,
        ...(record.gap ? [record.gap] : []),
      ]),
    ],
    changes: filtered(record.changes, filter).flatMap(changeData),
    unnamedPods: record.more,
  };
}

const changeData = ({ pod, why, reason, moves, isRepair = false }: PodMoves): readonly ChangeData[] =>
  moves.map(({ where, address, from, to, detail }) => ({
    pod: pod || null,
    address,
    place: where as ChangeData['place'],
    from: from ?? null,
    to: to ?? null,
    detail: detail ?? null,
    reason: (reason as ChangeReason | undefined) ?? null,
    message: why || null,
    isRepair,
  }));

export interface AddressesData {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'Addresses';
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  /** The asked time, by RFC 3339 in UTC. */
  readonly time: Time;
  /** If false, the message has the reason and the lists are empty. */
  readonly isKnown: boolean;
  readonly message: string;
  readonly addresses: readonly AddressData[];
  readonly gone: readonly Omit<AddressData, 'state' | 'ports'>[];
  readonly caveats: readonly string[];
}

interface AddressData {
  readonly pod: string | null;
  readonly address: string;
  readonly places: readonly string[];
  readonly state: string;
  /** Null if they are not known. */
  readonly ports: string | null;
  readonly since: Time | null;
  readonly message: string | null;
}

export const addressesData = (
  key: ServiceKey,
  { atMs, isKnown, summary, addresses, gone, caveats }: Then,
): AddressesData => ({
  ...{ apiVersion, kind: 'Addresses' },
  ...{ cluster: key.cluster, namespace: key.namespace, service: key.name },
  time: timeOf(atMs),
  isKnown,
  message: summary,
  addresses: addresses.map(({ state, ports = null, ...rest }) => ({ ...addressData(rest), state, ports })),
  gone: gone.map(addressData),
  caveats,
});

const addressData = ({
  pod,
  address,
  places,
  sinceMs,
  why,
}: Then['gone'][number] | Omit<Then['addresses'][number], 'state'>) => ({
  pod: pod || null,
  address,
  places,
  since: timeOrNull(sinceMs),
  message: why ?? null,
});

const timeOf = (ms: number): string => new Date(ms).toISOString();
const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : timeOf(ms));
