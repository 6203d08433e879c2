import type { CallKind } from './actor.ts';
import type { Random } from './random.ts';

/** The one cluster's id. */
export const cluster = 'c';

/** What happens in one world. Each kind of fault is on in some worlds and off in others: faults hide each other. */
export interface Profile {
  /** When the last fault and the last change happen, ms after the start. */
  readonly faultsUntilMs: number;
  /** Share of the invocations that crash at some await, or stop for longer than a lease lasts. */
  readonly crashes: number;
  readonly pauses: number;
  /** At which calls: often just at one of the writes and sends, whose order is what the protocol is about. */
  readonly fateAt: readonly (CallKind | 'any')[];
  /** Share of the table's and the queues' calls that are refused, lose their answer, or are carried out twice by the client. */
  readonly refusals: number;
  /** Share of the API calls that fail. */
  readonly apiFailures: number;
  /** For this long the cluster cannot be reached at all, in ms; 0 for never. */
  readonly outageMs: number;
  /** The API server refuses writes of Endpoints, as a webhook may, of one service. */
  readonly webhook: boolean;
  readonly duplicates: number;
  /** Longest extra delay of a message. */
  readonly delayMs: number;
  /** Share of the port calls that are slow. */
  readonly slow: number;
  /** Longest delay of a watch event. */
  readonly watchDelayMs: number;
  readonly relayKills: number;
  readonly twoRelays: boolean;
  /** Two relays that take turns by a Lease, and how often one of them is frozen or cut off from something. */
  readonly standby: boolean;
  readonly relayFaults: number;
  readonly relistMs: number;
  /** Lists that leave objects out, as a server that is not quite right may. */
  readonly shrunkenLists: boolean;
  readonly pageSize: number;
  /** Does sweep wake what is overdue? Where it does not, nothing hides a lost wake-up. */
  readonly sweepWakes: boolean;
  /** Endpoints and slices are there before us, as when kube-controller-manager made them. */
  readonly outputsBefore: boolean;
  /** Once the cluster goes back to what it was before: etcd is restored, or a cluster made anew behind the same address. */
  readonly goesBack: 'never' | 'restored' | 'recreated';
  readonly foreignEdits: number;
  readonly modeSwitches: number;
  /** Receives before a wake-up is put aside, to be re-driven by a person. */
  readonly syncReceives: number;
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly namespaces: number;
  readonly services: number;
  readonly pods: number;
  /** Changes of the cluster. */
  readonly changes: number;
}

export function drawProfile(random: Random, apart: Random): Profile {
  const profile = draw(random);
  // Of a list that lies, or a session that is heard of for the first time after the end of its history, nothing can be said.
  const may = !profile.shrunkenLists && profile.relayKills === 0;
  const goesBack = may && apart.chance(0.12) ? apart.pick(['restored', 'restored', 'recreated'] as const) : 'never';
  const standby = apart.chance(0.3);
  return {
    ...profile,
    goesBack,
    standby,
    twoRelays: profile.twoRelays && !standby,
    relayFaults: standby && goesBack === 'never' ? apart.between(0, 4) : 0,
  };
}

function draw(random: Random): Profile {
  const webhook = random.chance(0.1);
  const shrunkenLists = random.chance(0.07);
  return {
    faultsUntilMs: webhook && random.chance(0.5) ? 260_000 : random.between(30_000, 80_000),
    crashes: random.maybe(0.6, 0.06) ?? 0,
    pauses: random.maybe(0.45, 0.08) ?? 0,
    fateAt: ['any', 'any', 'put', 'update', 'send', 'api'],
    refusals: random.maybe(0.4, 0.02) ?? 0,
    apiFailures: random.maybe(0.3, 0.02) ?? 0,
    outageMs: random.maybe(0.12, random.between(3_000, 40_000)) ?? 0,
    webhook,
    duplicates: random.maybe(0.6, 0.2) ?? 0,
    delayMs: random.pick([0, 1_000, 30_000]),
    slow: random.pick([0, 0.02, 0.1]),
    watchDelayMs: random.pick([50, 1_000, 5_000]),
    relayKills: random.maybe(0.4, random.between(1, 3)) ?? 0,
    twoRelays: random.chance(0.25),
    standby: false,
    relayFaults: 0,
    relistMs: random.maybe(0.4, random.between(15_000, 50_000)) ?? 1e9,
    shrunkenLists,
    pageSize: random.between(3, 5),
    sweepWakes: random.chance(0.25),
    outputsBefore: shrunkenLists || random.chance(0.5),
    goesBack: 'never',
    foreignEdits: random.maybe(0.4, random.between(1, 6)) ?? 0,
    modeSwitches: random.maybe(0.15, random.between(1, 2)) ?? 0,
    syncReceives: random.chance(0.15) ? 2 : 50,
    batchPeriodSeconds: random.chance(0.2) ? random.between(1, 5) : 0,
    maxEndpointsPerSlice: random.pick([2, 3, 100]),
    namespaces: random.chance(0.3) ? 2 : 1,
    services: random.between(2, 4),
    pods: shrunkenLists ? 14 : random.between(3, 8),
    changes: random.between(6, 22),
  };
}
