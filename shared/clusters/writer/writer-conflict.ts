/**
 * A writer conflict: a second controller writes our objects. The record lists services that another field
 * manager wrote within a window of time. Many services in several namespaces stop all writes to the cluster
 * until an operator switches its mode, which clears the conflict and the list. service-conflict.ts is about
 * single services.
 */

import type { ForeignWriteLimits } from '#shared/contract/foreign-write-limits.ts';
import { metaKey } from '#shared/store/keys.ts';
import { type Item, type Table, textIn } from '#shared/store/table.ts';
import type { CircuitReason } from '../circuit.ts';
import { type ClusterSwitch, isSwitch, isWrittenTo } from './mode.ts';

const attributes = { foreign: 'foreign', conflict: 'conflict' } as const;

/** Attributes that a switch of mode removes. */
export const writerConflictAttributes = Object.values(attributes);

export const decodeWriterConflict = (item: Item): boolean => item[attributes.conflict] !== undefined;

interface ForeignServices {
  readonly sinceMs: number;
  readonly services: readonly (readonly [namespace: string, name: string])[];
}

interface ToNote {
  readonly namespace: string;
  readonly name: string;
  readonly nowMs: number;
  readonly limits: ForeignWriteLimits;
}

/** Adds the service to the list. Resolves to true if the list is long enough to prove a second controller. */
export async function noteForeignService(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  to: ToNote,
): Promise<boolean> {
  const { foreign } = attributes;
  for (let tries = 1; tries <= maxTries; tries++) {
    const text = textIn(await table.get(metaKey(id)), foreign);
    const known = text === undefined ? undefined : (JSON.parse(text) as ForeignServices);
    const next = withService(known, to);
    if (next === known) return isSecondWriter(next, to.limits);
    const isUnchanged =
      text === undefined ? { absent: foreign } : ({ attribute: foreign, is: '=', value: text } as const);
    const set = { [foreign]: JSON.stringify(next) };
    if (await table.update(metaKey(id), { set }, { all: [isSwitch(modeSwitch), isUnchanged] }))
      return isSecondWriter(next, to.limits);
  }
  // Other workers changed the list at each try, or the mode was switched. The next foreign write is noted
  // again.
  return false;
}

const maxTries = 5;

function withService(
  known: ForeignServices | undefined,
  { namespace, name, nowMs, limits }: ToNote,
): ForeignServices {
  if (!known || nowMs - known.sinceMs >= limits.foreignServicesMs)
    return { sinceMs: nowMs, services: [[namespace, name]] };
  const ofNamespace = known.services.filter((s) => s[0] === namespace);
  // Further services of a namespace are not listed, because they would not change the result.
  if (ofNamespace.length >= limits.foreignServices || ofNamespace.some((s) => s[1] === name)) return known;
  return { ...known, services: [...known.services, [namespace, name]] };
}

const isSecondWriter = (
  { services }: ForeignServices,
  { foreignServices, foreignNamespaces }: ForeignWriteLimits,
): boolean =>
  services.length >= foreignServices &&
  new Set(services.map(([namespace]) => namespace)).size >= foreignNamespaces;

/** The reason shown by `cluster -- list`, explain and the console. */
const shownAs = 'writer-conflict';

/** Resolves to false if the conflict is recorded already, or if an operator has switched the mode since. */
export async function recordWriterConflict(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  nowMs: number,
): Promise<boolean> {
  const change = { set: { [attributes.conflict]: nowMs } };
  return (
    (await table.update(metaKey(id), change, {
      all: [isSwitch(modeSwitch), isWrittenTo, { absent: attributes.conflict }],
    })) !== undefined
  );
}

/** Returns the reason for people why no run writes to an active cluster, or undefined if runs write. */
export const blockedBy = ({
  writerConflict,
  circuit,
}: {
  readonly writerConflict: boolean;
  readonly circuit: { readonly reason: CircuitReason } | undefined;
}): CircuitReason | typeof shownAs | undefined => (writerConflict ? shownAs : circuit?.reason);
