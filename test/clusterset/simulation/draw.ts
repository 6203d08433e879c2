/**
 * Draws if a seed's world has several clusters that export to each other. It is drawn separately, so other
 * worlds keep their seeds.
 */
import { ordinaryLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { drawProfile, type Profile, withLimits } from '#test/worlds/simulation/faults/profile.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { hostileId } from './hostile-relay.ts';

export interface MemberProfile {
  readonly id: string;
  readonly exports: boolean;
  readonly imports: boolean;
  /** The hub holds the cluster's addresses to its own range. */
  readonly holdsRanges: boolean;
}

/**
 * `loss`: the table is empty afterwards. `restore`: the table is as it was some time ago, and every cluster
 * is rebuilt.
 */
export type HubTrouble = 'none' | 'rebuild' | 'loss' | 'restore' | 'pause';

/** Time that the trouble needs within the faults, ms. */
const troubleMs: { readonly [T in HubTrouble]: number } = {
  none: 0,
  rebuild: 150_000,
  loss: 130_000,
  restore: 150_000,
  pause: 60_000,
};

/** Events in a set, in addition to the events in each of its clusters (Profile). */
export interface SetProfile {
  readonly members: readonly MemberProfile[];
  readonly sameness: 'labelled' | 'all';
  readonly importBatchSeconds: number;
  /** Services of each namespace that people export and take back. */
  readonly names: number;
  /**
   * Changes of exports, ports, imports and namespaces by people, and of what a cluster may export and import.
   */
  readonly people: number;
  readonly switches: number;
  /** Time for which a cluster's relays are silent, ms, or 0. */
  readonly silentMs: number;
  /** The kinds of the Multi-Cluster Services API are uninstalled in one cluster for a while. */
  readonly uninstalls: boolean;
  readonly restores: boolean;
  readonly departs: boolean;
  /** Pods with addresses outside of their cluster's range. */
  readonly strays: number;
  /** The trouble that operators cause or repair in the hub. */
  readonly hubTrouble: HubTrouble;
  /** One more cluster, whose relay is in an attacker's hands. */
  readonly hostile: boolean;
  /**
   * The API server of an importer refuses the writes of one object of an import, of any kind or of this one.
   */
  readonly refuses: boolean | 'Service';
  /** A tenant of an exporter exports as much as an API server stores. */
  readonly tenant: boolean;
  /** Number of exported Services that are made again: headless, or with an address again. */
  readonly typeChanges: number;
  /** An exporter is gone for minutes, and what it has sent comes late (burning.ts). */
  readonly burns: boolean;
  /** The entries of one exporter in the set are of a newer version. */
  readonly newer: boolean;
}

export interface DrawnSet {
  readonly set: SetProfile;
  /** Profile of each of its clusters. */
  readonly profile: Profile;
}

const share = 0.08;
const tenantShare = 0.15;
const burningShare = 0.12;
/** Names of a namespace that a worker of the hostile cluster may wake in the others, a minute. */
export const hostileBudget = 5;
/** Names that a cluster may export of a namespace, fewer than the hostile cluster and the tenant have. */
export const maxExports = 3;

const hostileBudgets = {
  sync: { wakesOfCluster: 2 * hostileBudget, wakesOfNamespace: hostileBudget, maxExports },
};
export const hostileLimits = withLimits(hostileBudgets);

const hostile: MemberProfile = { id: hostileId, exports: true, imports: false, holdsRanges: true };

/** Enough for an eviction, which sweep looks for once a minute, and for the latest of the heartbeats. */
export const burnsForMs = 420_000;
export const heartbeatsLateMs = 400_000;
/** Several of a minute, so that some are late. */
export const burntHeartbeatMs = 10_000;
export const evictAfterSeconds = 60;

/** Other troubles of the set would hold the eviction back, or explain an address. */
export const burning: Partial<SetProfile> = {
  burns: true,
  ...{
    switches: 0,
    silentMs: 0,
    uninstalls: false,
    restores: false,
    departs: false,
    hubTrouble: 'none',
    refuses: false,
    typeChanges: 0,
  },
  members: ['b', 'c', 'd'].map((id) => ({ id, exports: true, imports: id !== 'd', holdsRanges: false })),
};

/** Undefined: the seed's world has one cluster. `wanted`: of a mutant of a set. `calm`: of another mutant. */
export function drawSet(
  seed: number,
  {
    wanted,
    calm,
  }: {
    readonly wanted?: (Partial<SetProfile> & { readonly cluster?: Partial<Profile> }) | undefined;
    readonly calm: boolean;
  },
): DrawnSet | undefined {
  const random = new Random(seed + 0x5e75);
  const isSet = random.chance(share);
  if (!wanted && (calm || !isSet)) return undefined;
  const drawn = drawProfile(random, new Random(seed + 0x5e76), true);
  const departs = random.chance(0.15);
  const drawnMembers = drawMembers(random, departs);
  const silentMs = random.chance(0.3) ? random.between(95_000, 160_000) : 0;
  const { cluster, ...changes } = wanted ?? {};
  const drawnSet: SetProfile = {
    members: drawnMembers,
    sameness: random.chance(0.4) ? 'labelled' : 'all',
    importBatchSeconds: random.pick([0, 1, 2]),
    names: random.between(1, 2),
    people: random.between(3, 12),
    switches: random.chance(0.3) ? random.between(1, 3) : 0,
    silentMs,
    uninstalls: random.chance(0.2),
    restores: random.chance(0.12),
    departs,
    strays: random.chance(0.3) ? random.between(1, 3) : 0,
    // Drawn apart: the worlds without it are as they were.
    hostile: new Random(seed + 0x5e77).chance(0.35),
    hubTrouble: drawTrouble(new Random(seed + 0x5e78)),
    refuses: wanted === undefined && new Random(seed + 0x5e7a).chance(0.2),
    tenant: wanted === undefined && new Random(seed + 0x5e79).chance(tenantShare),
    typeChanges: new Random(seed + 0x5e7c).maybe(0.25, 2) ?? 0,
    newer: new Random(seed + 0x5e7d).chance(0.2),
    burns: false,
    ...(wanted === undefined && new Random(seed + 0x5e7e).chance(burningShare) && burning),
    ...changes,
  };
  const { hubTrouble } = drawnSet;
  const set: SetProfile = { ...drawnSet, ...(hubTrouble !== 'none' && hubTrouble !== 'pause' && forgotten) };
  const profile: Profile = {
    ...drawn,
    ...calmCluster,
    faultsUntilMs:
      random.between(30_000, 60_000) +
      (set.silentMs > 0 ? set.silentMs + 20_000 : 0) +
      troubleMs[set.hubTrouble] +
      (set.burns ? burnsForMs + 40_000 : 0),
    relayKills: set.restores || set.burns ? 0 : drawn.relayKills,
    services: random.between(2, 3),
    pods: random.between(2, 5),
    changes: random.between(3, 9),
    maxEndpointsPerSlice: random.pick([2, 100, 100]),
    ...((set.hostile || set.tenant) && { limits: hostileLimits }),
    ...cluster,
    ...ownLimits(set),
  };
  const { limits } = profile;
  const { importBatchSeconds } = set;
  return {
    set: set.hostile ? { ...set, members: [...set.members, hostile] } : set,
    profile: { ...profile, limits: { ...limits, sync: { ...limits.sync, importBatchSeconds } } },
  };
}

/** Limits of a set whose clusters burn, or whose hub is paused. */
function ownLimits({ hostile, tenant, burns, hubTrouble }: SetProfile): Partial<Profile> {
  const budgets = (hostile || tenant) && hostileBudgets;
  if (hubTrouble === 'pause') return { limits: withLimits({ ingest: { tombstoneMs: 2_000 }, ...budgets }) };
  return burns ? { limits: withLimits({ relay: { heartbeatMs: burntHeartbeatMs }, ...budgets }) } : {};
}

/** The table alone knows of a departure, a switch by hand and former histories of a cluster. */
const forgotten = { departs: false, switches: 0, restores: false } as const satisfies Partial<SetProfile>;

const drawTrouble = (random: Random): HubTrouble =>
  random.chance(0.3) ? random.pick(['rebuild', 'loss', 'restore', 'pause'] as const) : 'none';

function drawMembers(random: Random, departs: boolean): readonly MemberProfile[] {
  const ids = ['b', 'c', 'd'].slice(0, departs || random.chance(0.5) ? 3 : 2);
  return ids.map((id, i) => ({
    id,
    exports: i === 0 || random.chance(0.7),
    imports: i === 1 || random.chance(0.5),
    holdsRanges: random.chance(0.5),
  }));
}

/** Other worlds test the faults of a single cluster. */
const calmCluster = {
  clusters: 3,
  isBeside: true,
  goesBack: 'never',
  standby: false,
  twoRelays: false,
  relayFaults: 0,
  shrunkenLists: false,
  outputsBefore: false,
  webhook: false,
  foreignEdits: 0,
  modeSwitches: 0,
  relistMs: 1e9,
  batchPeriodSeconds: 0,
  namespaces: 1,
  limits: ordinaryLimits,
} as const satisfies Partial<Profile>;
