/**
 * Answers whether all is well, from the rows of the fleet: what needs attention in which cluster. Server and
 * page share it.
 */
import { silentAfterMs } from '#shared/contract/silence.ts';
import type { FleetRow } from './api-types.ts';

export interface Problem {
  readonly cluster: string;
  /** A clause, such as "last heartbeat 3 min ago". */
  readonly text: string;
  /** The filter of the cluster's services that lists the concerned ones. */
  readonly filter?: 'differs' | 'no writer' | 'cannot be reached';
}

export interface FleetVerdict {
  /** `open`: the Services of some clusters are not counted yet. */
  readonly state: 'good' | 'open' | 'bad';
  readonly text: string;
  readonly problems: readonly Problem[];
}

/**
 * Seconds. The alarms RelaySilent and WorkOverdue have longer limits, because they must not ring for a short
 * fault.
 */
export const limits = { heartbeatAge: silentAfterMs / 1_000, oldestPending: 60 } as const;

export const isSilent = ({ heartbeatAge }: FleetRow): boolean =>
  heartbeatAge === null || heartbeatAge > limits.heartbeatAge;
export const isOverdue = ({ overdueSeconds }: FleetRow): boolean =>
  (overdueSeconds ?? 0) > limits.oldestPending;

/** Latency is left out: a slow change needs no action as long as no work is overdue. */
export function problemsOf(row: FleetRow, durationText: (seconds: number) => string): readonly Problem[] {
  const { id: cluster, heartbeatAge, overdueSeconds, errors, circuitOpen, notKnown } = row;
  const differences = row.differences ?? 0;
  const withoutWriter = row.servicesWithoutWriter ?? 0;
  const unreachable = row.unreachable ?? 0;
  const services = (count: number): string =>
    `${count.toLocaleString('en')} ${count === 1 ? 'service' : 'services'}`;
  const clauses: readonly (false | Omit<Problem, 'cluster'>)[] = [
    heartbeatAge === null && { text: 'the relay has sent no heartbeat' },
    heartbeatAge !== null && notKnown !== null && { text: notKnown },
    unreachable > 0 && {
      text: `${services(unreachable)} that cannot be reached`,
      filter: 'cannot be reached',
    },
    isOverdue(row) && { text: `oldest pending work ${durationText(overdueSeconds ?? 0)}` },
    circuitOpen !== null && { text: `circuit open: ${circuitOpen}` },
    errors > 0 && {
      text: `${errors.toLocaleString('en')} ${errors === 1 ? 'error' : 'errors'} in five minutes`,
    },
    differences > 0 && {
      text: `${services(differences)} that ${differences === 1 ? 'differs' : 'differ'} in shadow mode`,
      filter: 'differs',
    },
    withoutWriter > 0 && { text: `${services(withoutWriter)} without a writer`, filter: 'no writer' },
  ];
  return clauses.filter((clause) => clause !== false).map((clause) => ({ cluster, ...clause }));
}

export function verdictOn(
  rows: readonly FleetRow[],
  durationText: (seconds: number) => string,
): FleetVerdict {
  const problems = rows.flatMap((row) => problemsOf(row, durationText));
  const concerned = new Set(problems.map((p) => p.cluster)).size;
  const [only] = rows;
  const paused = rows.filter((row) => row.mode === 'paused').length;
  const pausedText = paused === 0 ? '' : rows.length === 1 ? ', paused' : `, ${paused} paused`;
  const uncounted = rows.filter(({ unreachable }) => unreachable === null).length;
  const verdict = (state: FleetVerdict['state'], text: string): FleetVerdict => ({
    ...{ state, text: `${text}${pausedText}`, problems },
  });
  if (concerned > 0)
    return verdict(
      'bad',
      rows.length === 1
        ? `${only?.id} needs attention`
        : `${concerned} of ${rows.length} clusters ${concerned === 1 ? 'needs' : 'need'} attention`,
    );
  if (uncounted > 0)
    return verdict(
      'open',
      `the Services of ${uncounted.toLocaleString('en')} of ${rows.length.toLocaleString('en')} clusters are not counted yet`,
    );
  return verdict(
    'good',
    rows.length === 1 ? `${only?.id} is healthy` : `${rows.length} clusters, all healthy`,
  );
}
