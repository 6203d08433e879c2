import type { Mode } from '#shared/clusters/writer/mode.ts';
import type { Limits } from '#shared/contract/limits.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { CallKind } from '#test/worlds/simulation/world/actor.ts';
import { drawLimits, ordinaryLimits, type WorldLimits } from './draw-limits.ts';

/** The one cluster's id. */
export const cluster = 'c';

export interface Clocks {
  /** Lambda's are wrong by so much at most, either way, ms. */
  readonly hubSkewMs: number;
  /** Those of nodes may be wrong by minutes: how far the relays' are ahead, or behind, ms. */
  readonly relayAheadMs: number;
  readonly apiServerAheadMs: number;
}

export const rightClocks: Clocks = { hubSkewMs: 0, relayAheadMs: 0, apiServerAheadMs: 0 };

/**
 * The events of one world. Each kind of fault is on in some worlds and off in others, because faults hide
 * each other.
 */
export interface Profile {
  /** When the last fault and the last change happen, ms after the start. */
  readonly faultsUntilMs: number;
  /** Share of the invocations that crash at some await, or stop for longer than a lease lasts. */
  readonly crashes: number;
  readonly pauses: number;
  /**
   * Share of the invocations one call of which takes seconds, and no longer than the process may live: others
   * overtake it.
   */
  readonly stalls: number;
  /** At which calls: often just at one of the writes and sends, whose order is what the protocol is about. */
  readonly fateAt: readonly (CallKind | 'any')[];
  /**
   * Share of the table's and the queues' calls that are refused, lose their answer, or are carried out twice
   * by the client.
   */
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
  /** Does sweep wake what is overdue? Where it does not, nothing hides a lost wake-up. */
  readonly sweepWakes: boolean;
  /** Endpoints and slices are there before us, as when kube-controller-manager made them. */
  readonly outputsBefore: boolean;
  /**
   * The cluster goes back to a former state once: etcd is restored, or the cluster is created again behind
   * the same address. `raised`: restored with a revision above that of the lost history.
   */
  readonly goesBack: 'never' | 'restored' | 'raised' | 'recreated';
  readonly foreignEdits: number;
  readonly modeSwitches: number;
  /** The mode during the absence, and its maximum duration. */
  readonly awayMode: 'paused' | 'shadow';
  readonly awayMs: number;
  /** Receives before a wake-up is put aside, to be re-driven by a person. */
  readonly syncReceives: number;
  readonly batchPeriodSeconds: number;
  readonly maxEndpointsPerSlice: number;
  readonly namespaces: number;
  readonly services: number;
  readonly pods: number;
  /** Changes of the cluster. */
  readonly changes: number;
  /** Workers of each function that live at once. */
  readonly containers: number;
  /** Between two runs of sweep. */
  readonly sweepMs: number;
  /** Pods have kilobytes of labels, which are all alike: compressed they are nearly nothing. */
  readonly fatLabels: boolean;
  /**
   * A relay that lies for some time: its lists lack all pods, or it reports all pods as terminating. The
   * promise is then that the run guard uses the cluster's own state.
   */
  readonly lies: 'never' | 'empty' | 'ending';
  /**
   * Do Services opt in by annotation, beside the cluster's own controllers or beside the hub's; and how often
   * they change, and the switch is thrown?
   */
  readonly optIn: 'off' | 'active';
  readonly isBeside: boolean;
  readonly optInChanges: number;
  readonly optInSwitches: number;
  /** How often an operator sends traffic away from a zone, for some seconds (zones.ts). */
  readonly zoneSwitches: number;
  /**
   * A zonal shift of EKS beside its own controllers. These leave a Service its last ready pods, or do not:
   * what EKS does is not known.
   */
  readonly zonalShift: 'never' | 'keepsLast' | 'takesAll';
  /** `large`: one more namespace, whose objects are as large as an API server stores (large-tenant.ts). */
  readonly tenant: 'ordinary' | 'large';
  /**
   * All faults are those of one service (culprit.ts). `reads`, `writes`: every such call for its objects
   * fails in the same way. `resets`: its Endpoints are refused, so that it is in a retry all the time, and
   * connections of its other calls break now and then. `items`: the table refuses half of the calls for its
   * records. `seldom`: the table refuses a call of a worker now and then, whosesoever it is.
   */
  readonly culprit: 'none' | 'reads' | 'writes' | 'resets' | 'items' | 'seldom';
  readonly clocks: Clocks;
  /**
   * Items of a partition that an answer of the table has at most (partial-answers.ts); infinite: reads are
   * calls of the port.
   */
  readonly answerItems: number;
  /** Share of the invocations a call of which to the table or a queue gets no answer. */
  readonly hangs: number;
  /** For so long ingest does not run, from the first lists on (long-outage.ts), ms. */
  readonly ingestOutageMs: number;
  /** For so long the API server answers no call (silent-api.ts), ms. */
  readonly silentApiMs: number;
  /** Leftovers of the built-in controllers of a Service that opts in are deleted. */
  readonly cleanup: boolean;
  /** More than one: they are a set, with exports and imports (clusterset/). */
  readonly clusters: number;
  readonly limits: WorldLimits;
}

/** `calm`: only what has always been drawn, and no limits. */
export function drawProfile(random: Random, apart: Random, calm: boolean): Profile {
  const profile = draw(random);
  // A false list, or a session whose first message arrives after the end of its history, allows no
  // prediction.
  const may = !profile.shrunkenLists && profile.relayKills === 0;
  const goesBack =
    may && apart.chance(0.12) ? apart.pick(['restored', 'raised', 'recreated'] as const) : 'never';
  const standby = apart.chance(0.3);
  const relays: Pick<Profile, 'goesBack' | 'standby' | 'twoRelays' | 'relayFaults'> = {
    goesBack,
    standby,
    twoRelays: profile.twoRelays && !standby,
    relayFaults: standby && goesBack === 'never' ? apart.between(0, 4) : 0,
  };
  if (calm) return { ...profile, ...relays };
  const stalls = apart.maybe(0.4, 0.1) ?? 0;
  const fatLabels = apart.chance(0.03);
  const more = {
    stalls,
    fatLabels,
    containers: apart.chance(0.3) ? apart.between(2, 8) : ordinary.containers,
    sweepMs: apart.pick([60_000, 60_000, 20_000]),
    awayMode: apart.pick(['paused', 'shadow'] as const),
    awayMs: apart.pick([15_000, 60_000]),
    // A circuit is open when the mode is switched.
    outageMs: profile.modeSwitches > 0 && apart.chance(0.4) ? apart.between(3_000, 40_000) : profile.outageMs,
    limits: drawLimits(apart, { ...profile, stalls, fatLabels }, profile.limits.relay.pageSize),
    apiFailures: profile.apiFailures > 0 ? apart.pick([profile.apiFailures, 0.1]) : 0,
  };
  // An event of the lost history that comes after the next list stays until the list after that
  // (docs/develop/architecture.md, "Not guaranteed").
  const prompt = goesBack === 'raised' && { slow: 0, stalls: 0, pauses: 0 };
  const drawn: Profile = { ...profile, ...relays, ...more, ...prompt };
  if (may && goesBack === 'never' && apart.chance(0.04))
    return { ...drawn, ...lyingRelay(drawn.limits, apart.pick(['empty', 'ending'] as const)) };
  return apart.chance(0.015) ? { ...drawn, ...manyServices(drawn.limits, apart) } : drawn;
}

/** One service of many pods, all in one page of a list. The cluster has no other faults. */
export const lyingRelay = (limits: WorldLimits, lies: Profile['lies']): Partial<Profile> => ({
  lies,
  pods: 14,
  namespaces: 1,
  outputsBefore: true,
  fatLabels: false,
  twoRelays: false,
  standby: false,
  relayFaults: 0,
  foreignEdits: 0,
  modeSwitches: 0,
  relistMs: 15_000,
  changes: 6,
  maxEndpointsPerSlice: 100,
  limits: {
    ...limits,
    ingest: { ...limits.ingest, suspiciousCount: Math.min(limits.ingest.suspiciousCount, 5) },
    relay: { ...limits.relay, pageSize: 20, partBytes: ordinaryLimits.relay.partBytes },
    queue: ordinaryLimits.queue,
  },
});

/** Enough services that a page of a list of their outputs takes several runs of ingest. */
export const manyServices = (limits: WorldLimits, random: Random): Partial<Profile> => ({
  services: random.between(24, 32),
  namespaces: 1,
  pods: 4,
  changes: 6,
  outputsBefore: true,
  fatLabels: false,
  slow: 0,
  stalls: 0,
  limits: {
    ...limits,
    ingest: { ...limits.ingest, memoryAtOnce: ordinaryLimits.ingest.memoryAtOnce },
    queue: ordinaryLimits.queue,
    relay: { ...limits.relay, pageSize: 20, partBytes: ordinaryLimits.relay.partBytes },
    runs: { ...limits.runs, ingestMs: random.between(150, 200) },
  },
});

/** Returns true if the relay, or the server that it lists, reports a false state. */
export const isLiedTo = ({ shrunkenLists, lies }: Profile): boolean => shrunkenLists || lies !== 'never';

/** Returns the mode of the cluster before any switch. */
export const modeOf = ({ isBeside }: Profile): Mode & ('shadow' | 'active') =>
  isBeside ? 'shadow' : 'active';

/** Where nothing else is drawn. */
export const ordinary = {
  stalls: 0,
  containers: 3,
  sweepMs: 60_000,
  fatLabels: false,
  lies: 'never',
  tenant: 'ordinary',
  culprit: 'none',
  clocks: rightClocks,
  answerItems: Number.POSITIVE_INFINITY,
  hangs: 0,
  ingestOutageMs: 0,
  silentApiMs: 0,
  awayMode: 'paused',
  awayMs: 15_000,
  optIn: 'off',
  isBeside: false,
  optInChanges: 0,
  optInSwitches: 0,
  zoneSwitches: 0,
  zonalShift: 'never',
  cleanup: true,
  clusters: 1,
} as const satisfies Partial<Profile>;

/** A world whose only fault is the one that its own file adds. */
export const faultless = {
  ...ordinary,
  ...{
    crashes: 0,
    pauses: 0,
    refusals: 0,
    apiFailures: 0,
    outageMs: 0,
    webhook: false,
    duplicates: 0,
    delayMs: 1_000,
    slow: 0,
  },
  ...{
    relayKills: 0,
    twoRelays: false,
    standby: false,
    relayFaults: 0,
    relistMs: 1e9,
    shrunkenLists: false,
  },
  ...{ sweepWakes: true, goesBack: 'never', foreignEdits: 0, modeSwitches: 0, batchPeriodSeconds: 0 },
} as const satisfies Partial<Profile>;

export const withPageSize = (pageSize: number): WorldLimits => withLimits({ relay: { pageSize } });

export function withLimits(drawn: { readonly [S in keyof Limits]?: Partial<Limits[S]> }): WorldLimits {
  const { pods, ingest, sync, sweep, relay, queue, runs, election, requeue } = ordinaryLimits;
  return {
    pods: { ...pods, ...drawn.pods },
    ingest: { ...ingest, ...drawn.ingest },
    sync: { ...sync, ...drawn.sync },
    sweep: { ...sweep, ...drawn.sweep },
    relay: { ...relay, ...drawn.relay },
    queue: { ...queue, ...drawn.queue },
    runs: { ...runs, ...drawn.runs },
    election: { ...election, ...drawn.election },
    requeue: { ...requeue, ...drawn.requeue },
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
    ...ordinary,
    limits: withPageSize(random.between(3, 5)),
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
