/**
 * The differences between outputs and their stored bodies. They are one attribute of the Service's work item,
 * which the write that frees the lease saves, so a worker without the lease saves none
 * (docs/develop/decisions/0018). Pure.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Version } from '../version.ts';
import {
  checksumOf,
  type OutputDelta,
  type OutputRecord,
  type SavedBodies,
  type SavedBody,
  sortKeyOf,
} from './output-items.ts';
import { editOf, type TextEdit } from './text-edit.ts';

/** By the sort key of the body. */
export type OutputDeltas = ReadonlyMap<string, OutputDelta>;

type Stored = readonly [sk: string, version: Version, of: number, generation: number, edit: TextEdit];

export const noDeltas: OutputDeltas = new Map();

/** Returns the attribute's value, or null without a delta. */
export function encodeDeltas(deltas: OutputDeltas): Uint8Array | null {
  if (deltas.size === 0) return null;
  const stored = [...deltas].map(([sk, d]): Stored => [sk, d.version, d.of, d.generation, d.edit]);
  return deflateRawSync(JSON.stringify(stored));
}

export function decodeDeltas(bytes: Uint8Array | undefined): OutputDeltas {
  if (!bytes) return noDeltas;
  const stored = JSON.parse(inflateRawSync(bytes).toString()) as readonly Stored[];
  return new Map(
    stored.map(([sk, version, of, generation, edit]) => [sk, { version, of, generation, edit }]),
  );
}

/** Outputs as a run has read them, and those that it has changed. */
export interface OutputsToSave {
  readonly before: readonly OutputRecord[];
  readonly bodies: SavedBodies;
  readonly deltas: OutputDeltas;
  readonly changed: readonly OutputRecord[];
}

export interface Divided {
  readonly deltas: OutputDeltas;
  readonly asBodies: readonly OutputRecord[];
}

/**
 * Divides outputs into deltas, which have at most `maxBytes` together as an attribute, and new bodies. The
 * largest deltas become bodies first, also those of earlier runs.
 */
export function divide({ before, bodies, deltas, changed }: OutputsToSave, maxBytes: number): Divided {
  const records = new Map([...before, ...changed].map((record) => [sortKeyOf(record), record]));
  const asBodies: OutputRecord[] = [];
  const next = new Map([...deltas].filter(([sk, delta]) => isOf(delta, bodies.get(sk))));
  for (const record of changed) {
    const sk = sortKeyOf(record);
    const delta = deltaOf(record, bodies.get(sk));
    if (delta) next.set(sk, delta);
    else {
      next.delete(sk);
      asBodies.push(record);
    }
  }
  const kept = smallest(next, maxBytes);
  for (const sk of next.keys()) if (!kept.has(sk)) asBodies.push(records.get(sk) as OutputRecord);
  return { deltas: kept, asBodies };
}

/**
 * Returns the smallest deltas that fit together. They are tried from the smallest on, because deflating all of
 * a large Service's takes long.
 */
function smallest(deltas: OutputDeltas, maxBytes: number): OutputDeltas {
  const inOrder = [...deltas]
    .map(([sk, delta]) => ({ sk, delta, length: JSON.stringify(delta.edit).length }))
    .sort((a, b) => a.length - b.length);
  let kept = noDeltas;
  for (const { sk, delta } of inOrder) {
    const more = new Map([...kept, [sk, delta]]);
    if ((encodeDeltas(more) as Uint8Array).byteLength > maxBytes) break;
    kept = more;
  }
  return kept;
}

const isOf = ({ of }: OutputDelta, body: SavedBody | undefined): boolean =>
  body?.text !== undefined && checksumOf(body.text) === of;

/** Returns undefined if the body cannot be the base of a delta. */
function deltaOf(
  { version, uid, generation, object }: OutputRecord,
  body: SavedBody | undefined,
): OutputDelta | undefined {
  if (!object || body?.text === undefined || body.uid !== uid || version <= body.version) return undefined;
  const edit = editOf(body.text, JSON.stringify(object));
  return { version, of: checksumOf(body.text), generation, edit };
}

/** Above so many units of bodies, one unit more of deltas at each update costs less than new bodies. */
const largeBodiesUnits = 32;

/**
 * Returns how many bytes of deltas a work item of `itemBytes` takes: the rest of its last write unit, and one
 * unit more if little is left or the bodies are large.
 */
export function roomForDeltas(itemBytes: number, bodies: SavedBodies, unitBytes: number): number {
  const rest = unitBytes - (itemBytes % unitBytes);
  const bodyBytes = [...bodies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  return rest < unitBytes / 4 || bodyBytes > largeBodiesUnits * unitBytes ? rest + unitBytes : rest;
}
