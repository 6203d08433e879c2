/**
 * A body of an output that is saved anew with each change costs what it is large, and a change is small. So a run may save its change as an amendment: how
 * the output differs from the body that is saved. The amendments of all outputs of a service are one item, which each run writes whole.
 *
 * An amendment names the version of its body. It counts if it is newer than the body that is there. If it is of another body, a worker that had lost its
 * lease has saved one in between: what the output is then nobody knows, and the next run reads it from the API server (`OutputRecord.isUnreadable`).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { itemSize } from './item-size.ts';
import type { Condition, Item, Key } from './table.ts';
import { edited, editOf, type TextEdit } from './text-edit.ts';
import type { Version } from './version.ts';

/** Of one output, by the sort key of its body. */
export interface Amendment {
  /** The version of the body that it amends. */
  readonly of: Version;
  readonly version: Version;
  readonly generation: number;
  readonly edit: TextEdit;
}

export interface Amendments {
  /** The item's number: it is replaced only as it was read. */
  readonly serial: number;
  readonly version: Version;
  /** Since the bodies were saved: how often it was written, and the units that took. */
  readonly writes: number;
  readonly spent: number;
  readonly of: ReadonlyMap<string, Amendment>;
}

/** A body as it is stored. */
export interface Body {
  readonly version: Version;
  readonly uid: string;
  /** Undefined: the output is gone. */
  readonly text: string | undefined;
  /** Of its item. */
  readonly bytes: number;
}

/** How the outputs of a service are stored. */
export interface StoredAs {
  /** By sort key. */
  readonly bodies: ReadonlyMap<string, Body>;
  readonly amendments: Amendments | undefined;
}

const isNewer = (amendment: Amendment, body: Body | undefined): boolean => body !== undefined && amendment.version > body.version;

/** What says more of an output than its body does. */
export function inForce({ bodies, amendments }: StoredAs): readonly (readonly [string, Amendment])[] {
  return [...(amendments?.of ?? [])].filter(([sk, amendment]) => isNewer(amendment, bodies.get(sk)));
}

export interface Amended {
  readonly version: Version;
  readonly generation: number;
  readonly text: string | undefined;
  readonly isUnreadable?: true;
}

/** Undefined: the body is the newest that is saved. */
export function amended(body: Body, amendment: Amendment | undefined): Amended | undefined {
  if (!amendment || !isNewer(amendment, body)) return undefined;
  const { version, generation } = amendment;
  if (amendment.of !== body.version || body.text === undefined) return { version, generation, text: body.text, isUnreadable: true };
  return { version, generation, text: edited(body.text, amendment.edit) };
}

export const amendmentTo = (body: Body & { readonly text: string }, version: Version, generation: number, text: string): Amendment => ({
  of: body.version,
  version,
  generation,
  edit: editOf(body.text, text),
});

export interface AmendmentsItem {
  readonly item: Item;
  readonly next: Amendments;
  readonly units: number;
}

/** The item to write; `as` has none yet, or the former ones. */
export function amendmentsItem(key: Key, as: StoredAs, of: ReadonlyMap<string, Amendment>, unitBytes: number): AmendmentsItem {
  const former = inForce(as).length > 0 ? as.amendments : undefined;
  const heads = Object.fromEntries([...of].map(([sk, a]) => [sk, [a.of, a.version, a.generation]]));
  const edits = Object.fromEntries([...of].map(([sk, { edit }]) => [sk, edit]));
  const version = [...of.values()].reduce((newest, a) => (a.version > newest ? a.version : newest), '' as Version);
  const serial = (as.amendments?.serial ?? 0) + 1;
  const item = {
    ...key,
    v: version,
    // A version without amendments reads every item of the partition as an output: this one as a slice without a name that is gone.
    name: '',
    k: serial,
    n: (former?.writes ?? 0) + 1,
    s: former?.spent ?? 0,
    e: JSON.stringify(heads),
    d: deflateRawSync(JSON.stringify(edits)),
  };
  const units = unitsOf(itemSize(item), unitBytes);
  const spent = item.s + units;
  return { item: { ...item, s: spent }, next: { serial, version, writes: item.n, spent, of }, units };
}

/** As it was read: another worker may have written it since, and one of the two has lost the lease. */
export const asRead = ({ amendments }: StoredAs): Condition =>
  amendments
    ? {
        all: [
          { attribute: 'k', is: '=', value: amendments.serial },
          { attribute: 'v', is: '=', value: amendments.version },
        ],
      }
    : { absent: 'k' };

export function decodeAmendments(item: Item | undefined): Amendments | undefined {
  if (!item) return undefined;
  const heads = JSON.parse(item['e'] as string) as { readonly [sk: string]: readonly [Version, Version, number] };
  const edits = JSON.parse(inflateRawSync(item['d'] as Uint8Array).toString()) as { readonly [sk: string]: TextEdit };
  const of = Object.entries(heads).map(
    ([sk, [body, version, generation]]) => [sk, { of: body, version, generation, edit: edits[sk] ?? [] }] as const,
  );
  return {
    serial: item['k'] as number,
    version: item['v'] as Version,
    writes: item['n'] as number,
    spent: item['s'] as number,
    of: new Map(of),
  };
}

/**
 * Does it pay to write these, rather than to save the bodies that they are of? Amendments grow, so the mean cost of a change falls until one of them costs
 * more than that mean: then the bodies are due. `units`: of the item; `bodies`: bytes of theirs.
 */
export function pays({ writes, spent }: Amendments, units: number, bodies: readonly number[], unitBytes: number): boolean {
  const whole = bodies.reduce((sum, bytes) => sum + unitsOf(bytes, unitBytes), 0);
  return units * writes < spent - units + whole;
}

export const unitsOf = (bytes: number, unitBytes: number): number => Math.ceil(bytes / unitBytes);
