/** The modes of a cluster, their meaning for its services, and the count of its switches. */
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { type Item, numberOf, textIn, type WriteCondition } from '#shared/store/table.ts';

/** `draining` and `removed` are modes of deregistered clusters (removal.ts). */
export type Mode = ChosenMode | 'draining' | 'removed';
export type ChosenMode = 'active' | 'shadow' | 'paused';

export interface ModeSwitch {
  /** Raised by each switch of mode and change of settings. */
  readonly count: number;
  /** Time of the last switch of mode, ms since the epoch. */
  readonly atMs: number;
  /** True until every service is woken for the last switch or for the first lists. */
  readonly wakesPending: boolean;
  /** Position of the wake-ups of this or a former switch (mode-switch.ts). */
  readonly wokenTo: string | undefined;
  /** The cluster is paused and was active before. */
  readonly wasActive: boolean;
}

/** A cluster as of one switch of its mode. Functions that take it change nothing after the next switch. */
export interface ClusterSwitch {
  readonly id: string;
  readonly modeSwitch: Pick<ModeSwitch, 'count'>;
}

export const modeAttributes = {
  mode: 'mode',
  count: 'switches',
  atMs: 'modeSince',
  wakesPending: 'wakesPending',
  wokenTo: 'wokenTo',
  wasActive: 'wasActive',
} as const;

export const decodeMode = (item: Item): Mode => (item[modeAttributes.mode] as Mode | undefined) ?? 'shadow';

export function decodeModeSwitch(item: Item): ModeSwitch {
  return {
    count: numberOf(item, modeAttributes.count),
    atMs: numberOf(item, modeAttributes.atMs),
    wakesPending: numberOf(item, modeAttributes.wakesPending) === 1,
    wokenTo: textIn(item, modeAttributes.wokenTo),
    wasActive: numberOf(item, modeAttributes.wasActive) === 1,
  };
}

export const isSwitch = ({ count }: Pick<ModeSwitch, 'count'>): WriteCondition => ({
  attribute: modeAttributes.count,
  is: '=',
  value: count,
});

export const isMode = (mode: Mode): WriteCondition => ({
  attribute: modeAttributes.mode,
  is: '=',
  value: mode,
});
/** The condition that the cluster has runs (`hasRuns`). */
export const isWithRuns: WriteCondition = { any: [isMode('active'), isMode('shadow')] };
/** The condition for changes that must not touch a deregistered cluster. */
export const isRegistered: WriteCondition = { any: [isMode('active'), isMode('shadow'), isMode('paused')] };

export const optInAttributes = {
  optIn: 'optIn',
  since: 'optInSince',
  withdraws: 'optInWithdraws',
  abandons: 'optInAbandons',
} as const;

export const decodeOptIn = (item: Item): OptIn => (item[optInAttributes.optIn] as OptIn | undefined) ?? 'off';

export const decodeWithdraws = (item: Item): boolean => item[optInAttributes.withdraws] === 1;

export interface Switches {
  readonly mode: Mode;
  readonly optIn: OptIn;
  /** The hub writes imports to the cluster, or other clusters import from it. */
  readonly isSetMember: boolean;
}

/** Returns true if the hub writes the endpoints of Services that opt in. A pause stops these, too. */
export const writesOptIn = ({ mode, optIn }: Switches): boolean =>
  optIn === 'active' && (mode === 'active' || mode === 'shadow');

/**
 * 1 in the record of a cluster that exports or writes imports (clusterset-membership.ts), because conditions
 * cannot read the encoded membership.
 */
export const memberAttribute = 'setMember';

export const decodeSetMember = (item: Item): boolean => item[memberAttribute] === 1;

/** Returns true if the hub writes imports or the conditions of exports. */
const writesForSet = ({ mode, isSetMember }: Switches): boolean =>
  (mode === 'active' || mode === 'shadow') && isSetMember;

/** Returns true if the hub writes to the cluster at all. */
export const writesAnything = (switches: Switches): boolean =>
  switches.mode === 'active' || writesOptIn(switches) || writesForSet(switches);
export const isWrittenTo: WriteCondition = {
  any: [
    isMode('active'),
    { all: [isMode('shadow'), { attribute: optInAttributes.optIn, is: '=', value: 'active' }] },
    { all: [isMode('shadow'), { attribute: memberAttribute, is: '=', value: 1 }] },
  ],
};

/**
 * Returns true if the snapshot affects traffic. Then a relay alone can neither delete much by a list nor
 * report another cluster or history. In shadow mode without opt-in, exports and imports, traffic does not depend
 * on the snapshot, so the snapshot follows the relay without delay.
 */
export const servesFromSnapshot = (switches: Switches): boolean =>
  switches.mode !== 'shadow' || switches.optIn === 'active' || switches.isSetMember;

interface InMode {
  readonly mode: Mode;
}

/** Attribute of a cluster that is `removed` during the minutes of a rebuild (removal.ts). */
export const rebuilding = 'rebuilding';

/** Returns true if the cluster is removed for good and not for a rebuild, so its exports are withdrawn. */
export const hasLeft = ({ mode, isRebuilding }: InMode & { readonly isRebuilding: boolean }): boolean =>
  isDeregistered({ mode }) && !isRebuilding;

/**
 * Returns true for a cluster that was taken out of the configuration. It lacks queues, and the hub neither
 * wakes, compares nor writes its services.
 */
export const isDeregistered = ({ mode }: InMode): boolean => mode === 'draining' || mode === 'removed';

/** Returns true if the cluster's own controllers write its endpoints and runs compare with them. */
export const isShadow = ({ mode }: InMode): boolean => mode === 'shadow';

/** Returns true if the snapshot has what the cluster's own controllers wrote: in shadow mode, and in a pause of it. */
export const isObserved = ({
  mode,
  modeSwitch,
}: InMode & { readonly modeSwitch: Pick<ModeSwitch, 'wasActive'> }): boolean =>
  isShadow({ mode }) || (mode === 'paused' && !modeSwitch.wasActive);

/** Returns true if runs compute outputs, to write or to compare them. In other modes a wake-up is dropped. */
export const hasRuns = ({ mode }: InMode): boolean => mode === 'active' || mode === 'shadow';

/**
 * Returns true if an operator, or the hub because of a second controller, has stopped the runs until the next
 * switch of mode.
 */
export const isStopped = ({ mode, writerConflict }: InMode & { readonly writerConflict: boolean }): boolean =>
  mode === 'paused' || writerConflict;

/**
 * Returns true if the cluster is active without a writer conflict. Runs have further conditions
 * (functions/sync/admission/admission.ts).
 */
export const isActiveWithoutConflict = ({
  mode,
  writerConflict,
}: InMode & { readonly writerConflict: boolean }): boolean => mode === 'active' && !writerConflict;
