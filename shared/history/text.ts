/** Encodes a record as text for the table, with lists and short names because each KB is billed. Decoding ignores unknown fields. */
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import type { Ending, HistoryRecord, Move, PodMoves } from './history-record.ts';

const controllerCodes = { endpoints: 'ep', slices: 'sl' } as const satisfies { readonly [C in Controller]: string };
const endingCodes = { failed: 'f', requeued: 'r' } as const satisfies { readonly [K in Ending['kind']]: string };

type MoveText = readonly [where: string, address: string, from: string | 0, to: string | 0, detail?: string];
type ChangeText = readonly [pod: string, why: string, moves: readonly MoveText[], repair?: 0 | 1, reason?: string];

/** Times are distances from `t`: backwards for `s` and `d`, forwards for the rest. */
interface RecordText {
  readonly t: number;
  readonly g: number;
  readonly s?: number;
  readonly d?: number;
  readonly a?: number;
  readonly e: number;
  readonly w?: readonly [endpoints: number, slices: number];
  readonly o?: { readonly [code: string]: readonly [kind: string, text: string] };
  readonly h?: string;
  readonly k?: readonly string[];
  readonly y?: string;
  readonly x?: 1;
  /** `l`: deletes among `w`. `f`: the first record. `b`: the writer. `q`: addresses changed by another client. `p`: all slices proved. */
  readonly l?: readonly [endpoints: number, slices: number];
  readonly f?: 1;
  readonly b?: NonNullable<HistoryRecord['writer']>;
  readonly q?: readonly [endpoints: number, slices: number];
  readonly p?: 1;
  readonly c?: readonly ChangeText[];
  readonly m?: number;
}

/** Halves the number of named pods until the text has at most `maxBytes`, and counts the rest. */
export function encodeRecord(record: HistoryRecord, maxBytes: number): string {
  const text = JSON.stringify(encode(record));
  const pods = [...new Set(record.changes.map(({ pod }) => pod))];
  if (pods.length === 0 || encoder.encode(text).length <= maxBytes) return text;
  const named = new Set(pods.slice(0, pods.length >> 1));
  const changes = record.changes.filter(({ pod }) => named.has(pod));
  return encodeRecord({ ...record, changes, more: record.more + pods.length - named.size }, maxBytes);
}

const encoder = new TextEncoder();

/** Returns undefined if the text is not a record, or is of another version. */
export function decodeRecord(text: string): HistoryRecord | undefined {
  try {
    const record = JSON.parse(text) as RecordText | null;
    return Number.isFinite(record?.t) ? decode(record as RecordText) : undefined;
  } catch {
    return undefined;
  }
}

function encode(r: HistoryRecord): RecordText {
  const endings = controllers.flatMap((c) => {
    const ending = r.endings[c];
    return ending ? [[controllerCodes[c], [endingCodes[ending.kind], ending.text]] as const] : [];
  });
  return {
    t: r.atMs,
    g: r.generation,
    ...(r.seenMs !== undefined && { s: r.atMs - r.seenMs }),
    ...(r.dueMs !== undefined && { d: r.atMs - r.dueMs }),
    ...(r.acceptedMs !== undefined && { a: r.acceptedMs - r.atMs }),
    e: r.endedMs - r.atMs,
    ...(r.writes.endpoints + r.writes.slices > 0 && { w: [r.writes.endpoints, r.writes.slices] as const }),
    ...(endings.length > 0 && { o: Object.fromEntries(endings) }),
    ...(r.heldBack !== undefined && { h: r.heldBack }),
    ...(r.notes.length > 0 && { k: r.notes }),
    ...(r.gap !== undefined && { y: r.gap }),
    ...(r.isUnsaved && { x: 1 as const }),
    ...(r.deletes && { l: [r.deletes.endpoints, r.deletes.slices] as const }),
    ...(r.isFirst && { f: 1 as const }),
    ...(r.writer && { b: r.writer }),
    ...(r.foundOtherwise && { q: [r.foundOtherwise.endpoints, r.foundOtherwise.slices] as const }),
    ...(r.provesSlices && { p: 1 as const }),
    ...(r.changes.length > 0 && { c: r.changes.map(encodeChange) }),
    ...(r.more > 0 && { m: r.more }),
  };
}

const encodeChange = ({ pod, why, reason, moves, isRepair }: PodMoves): ChangeText => {
  const list = moves.map(
    ({ where, address, from, to, detail }): MoveText => [where, address, from ?? 0, to ?? 0, ...(detail ? [detail] : [])] as never,
  );
  const repair = isRepair ? 1 : 0;
  return reason ? [pod, why, list, repair, reason] : isRepair ? [pod, why, list, repair] : [pod, why, list];
};

function decode(r: RecordText): HistoryRecord {
  const kindOf = (code: string): Ending['kind'] => (code === endingCodes.failed ? 'failed' : 'requeued');
  const endings = controllers.flatMap((c) => {
    const ending = r.o?.[controllerCodes[c]];
    return ending ? [[c, { kind: kindOf(ending[0]), text: ending[1] }] as const] : [];
  });
  const [endpoints = 0, slices = 0] = r.w ?? [];
  return {
    atMs: r.t,
    generation: r.g,
    ...(r.s !== undefined && { seenMs: r.t - r.s }),
    ...(r.d !== undefined && { dueMs: r.t - r.d }),
    ...(r.a !== undefined && { acceptedMs: r.t + r.a }),
    endedMs: r.t + r.e,
    writes: { endpoints, slices },
    endings: Object.fromEntries(endings),
    ...(r.h !== undefined && { heldBack: r.h }),
    notes: r.k ?? [],
    ...(r.y !== undefined && { gap: r.y }),
    ...(r.x === 1 && { isUnsaved: true }),
    ...(r.l && { deletes: { endpoints: r.l[0], slices: r.l[1] } }),
    ...(r.f === 1 && { isFirst: true }),
    ...(r.b && { writer: r.b }),
    ...(r.q && { foundOtherwise: { endpoints: r.q[0], slices: r.q[1] } }),
    ...(r.p === 1 && { provesSlices: true }),
    changes: (r.c ?? []).map(decodeChange),
    more: r.m ?? 0,
    times: 1,
    untilMs: r.t,
  };
}

function decodeChange([pod, why, moves, repair, reason]: ChangeText): PodMoves {
  const list = moves.map(([where, address, from, to, detail]): Move => {
    return { where, address, from: from || undefined, to: to || undefined, ...(detail !== undefined && { detail }) };
  });
  return { pod, why, ...(reason && { reason }), moves: list, ...(repair && { isRepair: true }) };
}
