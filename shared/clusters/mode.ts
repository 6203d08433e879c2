/** The modes of a cluster, what each means for its services, and the count of its switches. */
import type { OptIn } from '#shared/opt-in/writer.ts';
import type { Condition, Item } from '#shared/store/table.ts';

/** The last two are of clusters that are not in the configuration any more (removal.ts). */
export type Mode = ChosenMode | 'draining' | 'removed';
export type ChosenMode = 'active' | 'shadow' | 'paused';

export interface ModeSwitch {
  /** Raised by each switch of mode and change of settings. */
  readonly count: number;
  /** When the mode was switched last. */
  readonly atMs: number;
  /** Not every service has been woken for the last switch, or for the first lists. */
  readonly owesWaking: boolean;
  /** How far a waking has come, which may be a former one's (mode-switch.ts). */
  readonly wokenTo: string | undefined;
  /** Paused, and active before. */
  readonly wasActive: boolean;
}

/** A cluster as of one switch of its mode: a verb that takes it changes nothing once the next switch has come. */
export interface ClusterSwitch {
  readonly id: string;
  readonly modeSwitch: Pick<ModeSwitch, 'count'>;
}

export const modeAttributes = {
  mode: 'mode',
  count: 'epoch',
  atMs: 'modeSince',
  owesWaking: 'wakeAll',
  wokenTo: 'wokenTo',
  wasActive: 'wasActive',
} as const;

export const decodeMode = (item: Item): Mode => (item[modeAttributes.mode] as Mode | undefined) ?? 'shadow';

export function decodeModeSwitch(item: Item): ModeSwitch {
  const number = (attribute: string): number => (item[attribute] as number | undefined) ?? 0;
  return {
    count: number(modeAttributes.count),
    atMs: number(modeAttributes.atMs),
    owesWaking: number(modeAttributes.owesWaking) === 1,
    wokenTo: item[modeAttributes.wokenTo] as string | undefined,
    wasActive: number(modeAttributes.wasActive) === 1,
  };
}

export const isSwitch = ({ count }: Pick<ModeSwitch, 'count'>): Condition => ({ attribute: modeAttributes.count, is: '=', value: count });

export const isMode = (mode: Mode): Condition => ({ attribute: modeAttributes.mode, is: '=', value: mode });
const isNot = (mode: Mode): Condition => ({
  any: [
    { attribute: modeAttributes.mode, is: '<', value: mode },
    { attribute: modeAttributes.mode, is: '>', value: mode },
  ],
});
/** The condition of a verb that must not touch a cluster that was taken out of the configuration. */
export const isRegistered: Condition = { all: [isNot('draining'), isNot('removed')] };

export const optInAttributes = { optIn: 'optIn', since: 'optInSince', withdraws: 'optInWithdraws' } as const;

export const decodeOptIn = (item: Item): OptIn => (item[optInAttributes.optIn] as OptIn | undefined) ?? 'off';

export const decodeWithdraws = (item: Item): boolean => item[optInAttributes.withdraws] === 1;

export interface Switches {
  readonly mode: Mode;
  readonly optIn: OptIn;
  /** Left out: the cluster takes no part in a set. */
  readonly clusterset?: { readonly imports: 'off' | 'shadow' | 'active'; readonly exports: { readonly namespaces: readonly string[] | 'all' } };
}

/** Does the hub write the endpoints of Services that opt in? A pause stops these too. */
export const writesOptIn = ({ mode, optIn }: Switches): boolean => optIn === 'active' && (mode === 'active' || mode === 'shadow');

/** 1 in the record of a cluster that exports or writes imports (clusterset-membership.ts): conditions cannot look into the membership. */
export const memberAttribute = 'setMember';

const exportsAny = ({ clusterset }: Switches): boolean => clusterset !== undefined && clusterset.exports.namespaces.length > 0;

/** Does the hub write imports, or the conditions of exports? */
const writesForSet = (switches: Switches): boolean =>
  (switches.mode === 'active' || switches.mode === 'shadow') && (exportsAny(switches) || switches.clusterset?.imports === 'active');

/** Does the hub write anything at all to the cluster? */
export const writesAnything = (switches: Switches): boolean => switches.mode === 'active' || writesOptIn(switches) || writesForSet(switches);
export const isWrittenTo: Condition = {
  any: [
    isMode('active'),
    { all: [isMode('shadow'), { attribute: optInAttributes.optIn, is: '=', value: 'active' }] },
    { all: [isMode('shadow'), { attribute: memberAttribute, is: '=', value: 1 }] },
  ],
};

/**
 * Does the snapshot decide about traffic? Then the word of one relay is not enough for a list that takes much away, nor for another cluster or history.
 * In shadow mode without opt-in and without exports nothing depends on the snapshot, and it follows the relay without delay.
 */
export const servesFromSnapshot = (switches: Switches): boolean => switches.mode !== 'shadow' || switches.optIn === 'active' || exportsAny(switches);

interface InMode {
  readonly mode: Mode;
}

/** In the record of a cluster that is `removed` for the minutes of a rebuild (removal.ts). */
export const rebuilding = 'rebuilding';

/** It is not only `removed` for a rebuild: what it exports to others is withdrawn. */
export const hasLeft = ({ mode, isRebuilding }: InMode & { readonly isRebuilding: boolean }): boolean => isDeregistered({ mode }) && !isRebuilding;

/** It was taken out of the configuration: it has no queues any more, and nothing is woken, compared or written. */
export const isDeregistered = ({ mode }: InMode): boolean => mode === 'draining' || mode === 'removed';

/** The cluster's own controllers write its endpoints: runs compare with what these wrote. */
export const isShadow = ({ mode }: InMode): boolean => mode === 'shadow';

/** Do runs compute, to write or to compare? In other modes a wake-up has nothing to do. */
export const hasRuns = ({ mode }: InMode): boolean => mode === 'active' || mode === 'shadow';

/** An operator, or the hub for a second controller, has stopped the runs until the next switch of mode, which wakes every service. */
export const isStopped = ({ mode, writerConflict }: InMode & { readonly writerConflict: boolean }): boolean => mode === 'paused' || writerConflict;

/** Active, and no second controller met since the last switch of mode. Not a condition of a run: that is functions/sync/admission/admission.ts. */
export const isActiveWithoutConflict = ({ mode, writerConflict }: InMode & { readonly writerConflict: boolean }): boolean =>
  mode === 'active' && !writerConflict;
