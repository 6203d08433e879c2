/** Renders a record as sentences. */

import { inEndpoints } from '#shared/controllers/history/addresses.ts';
import type { HistoryRecord, Move, PodMoves } from '#shared/controllers/history/history-record.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import { effectiveMs } from './record-facts.ts';

export interface RunText {
  readonly atMs: number;
  /** `held`: held back. `found`: wrote nothing, for no reason to write. */
  readonly kind: 'wrote' | 'failed' | 'held' | 'found';
  /** The time, the writes and the speed of the run in one line. */
  readonly headline: string;
  /** A line for each pod and reason, then further remarks. */
  readonly lines: readonly string[];
}

/** Selects the changes of an address or a pod. */
export interface Filter {
  readonly address?: string | undefined;
  readonly pod?: string | undefined;
}

/**
 * Returns undefined if no change of the record passes the filter. A record with unnamed pods always passes,
 * because they may match.
 */
export function runText(record: HistoryRecord, filter: Filter = {}): RunText | undefined {
  const changes = filtered(record.changes, filter);
  const isFiltered = filter.address !== undefined || filter.pod !== undefined;
  if (isFiltered && changes.length === 0 && record.more === 0 && recordKind(record) === 'wrote')
    return undefined;
  return {
    atMs: effectiveMs(record),
    kind: recordKind(record),
    headline: headline(record),
    lines: [...changes.map(changeText), ...remarks(record)],
  };
}

export function filtered(changes: readonly PodMoves[], { address, pod }: Filter): readonly PodMoves[] {
  return changes.flatMap((change) => {
    if (pod !== undefined && change.pod !== pod) return [];
    const moves = address === undefined ? change.moves : change.moves.filter((m) => m.address === address);
    return moves.length > 0 ? [{ ...change, moves }] : [];
  });
}

export function recordKind({ endings, heldBack, writes }: HistoryRecord): RunText['kind'] {
  const all = Object.values(endings);
  if (all.some((e) => e.kind === 'failed')) return 'failed';
  if (writes.endpoints + writes.slices > 0) return 'wrote';
  return heldBack !== undefined || all.length > 0 ? 'held' : 'found';
}

/**
 * A record of several runs has the end of the last run only, so its line begins with the start of the first
 * run.
 */
const headline = (r: HistoryRecord): string =>
  `${exactTime(r.times > 1 ? r.atMs : effectiveMs(r))} ${[deedOf(r), ...speedOf(r)].join(', ')}`;

function deedOf(r: HistoryRecord): string {
  const { endpoints, slices } = r.writes;
  const deleted = r.deletes ?? { endpoints: 0, slices: 0 };
  const written = outputsText(endpoints - deleted.endpoints, slices - deleted.slices);
  const repeated = r.times > 1 ? `, ${r.times} times until ${exactTime(Math.max(r.atMs, r.untilMs))}` : '';
  if (r.heldBack !== undefined) return `held back: ${r.heldBack}${repeated}`;
  const endings = (
    Object.entries(r.endings) as [Controller, NonNullable<HistoryRecord['endings'][Controller]>][]
  ).map(([controller, { kind, text }]) => {
    const what = kind === 'failed' ? 'failed' : 'held back';
    return { both: `${what}: ${text}`, one: `${controllerNames[controller]} ${what}: ${text}` };
  });
  const [first, second] = endings;
  const ended = second && first?.both === second.both ? [second.both] : endings.map((e) => e.one);
  const gone = outputsText(deleted.endpoints, deleted.slices);
  const wrote = [...(written ? [`wrote ${written}`] : []), ...(gone ? [`deleted ${gone}`] : [])];
  const deed = [...wrote, ...ended].join('; ') || 'wrote nothing';
  return `${r.by === undefined ? '' : `${r.by} `}${deed}${repeated}`;
}

const outputsText = (endpoints: number, slices: number): string =>
  [
    ...(endpoints > 0 ? ['Endpoints'] : []),
    ...(slices > 0 ? [slices === 1 ? '1 slice' : `${slices.toLocaleString('en')} slices`] : []),
  ].join(' and ');

const controllerNames = { endpoints: 'Endpoints', slices: 'EndpointSlices' } as const satisfies {
  readonly [C in Controller]: string;
};

/** Returns the time from the change to the accepted write, in parts that a reader can act on. */
function speedOf({ seenMs, dueMs, atMs, acceptedMs }: HistoryRecord): readonly string[] {
  if (acceptedMs === undefined) return [];
  if (seenMs !== undefined) {
    const parts = [
      ...(dueMs === undefined ? [] : [`due ${spanText(dueMs - seenMs)}`]),
      `run ${spanText(atMs - seenMs)}`,
    ];
    return [
      `accepted ${spanText(acceptedMs - seenMs)} after the relay saw the change (${parts.join(', ')} after it)`,
    ];
  }
  return dueMs === undefined ? [] : [`accepted ${spanText(acceptedMs - dueMs)} after it was due`];
}

function changeText({ pod, why, moves, isRepair }: PodMoves): string {
  const byAddress = Map.groupBy(moves, (m) => JSON.stringify([m.address, m.from, m.to, m.detail]));
  const texts = [...byAddress.values()].map((moves) => moveText(moves, isRepair === true));
  return `${pod ? `pod ${pod}: ` : ''}${texts.join('; ')}${why && `: ${why}`}`;
}

/** Renders moves that differ in their places only. */
function moveText(moves: readonly Move[], isRepair: boolean): string {
  const [{ address, from, to, detail }] = moves as readonly [Move];
  const places = moves.map((m) => placeText(m.where)).join(' and ');
  const back = isRepair ? ' restored:' : '';
  if (from === undefined) return `${address}${back} added to ${places}, ${to}`;
  if (to === undefined) return `${address}${back} removed from ${places}, where it was ${from}`;
  const changed = [...(from === to ? [] : [`from ${from} to ${to}`]), ...(detail ? [detail] : [])];
  return `${address}${back} changed in ${places}: ${changed.join('; ')}`;
}

export const placeText = (where: string): string => (where === inEndpoints ? where : `${where} slices`);

const remarks = ({ more, notes, gap, isUnsaved }: HistoryRecord): readonly string[] => [
  ...(more > 0
    ? [
        `and ${more.toLocaleString('en')} more ${more === 1 ? 'pod' : 'pods'}, which this record does not name`,
      ]
    : []),
  ...notes,
  ...(gap === undefined ? [] : [gap]),
  ...(isUnsaved ? [unsavedText] : []),
];

export const unsavedText =
  'the table had newer versions of the outputs and refused these: later records may lack the changes of this run';

/** Formats a time as "2026-03-01T10:00:00.123Z". */
export const exactTime = (ms: number): string => new Date(ms).toISOString();

export const spanText = (ms: number): string =>
  ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000).toLocaleString('en')} s`;
