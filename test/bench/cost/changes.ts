import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { type ClusterSize, generator, withReadiness } from './cluster-objects.ts';
import { dollarsOf, MeteredWorld, total, type Usage } from './metered-world.ts';

interface Scenario extends ClusterSize {
  readonly name: string;
  readonly changes: number;
  /** Changes that come at once, and the time between. */
  readonly burst: number;
  readonly everyMs: number;
}

const namespaceOf200 = { namespaces: 1, services: 20, podsPerService: 10 };
const scenarios: readonly Scenario[] = [
  {
    name: 'services of 10 pods, namespace of 200, one change at a time',
    ...namespaceOf200,
    changes: 500,
    burst: 1,
    everyMs: 5_000,
  },
  {
    name: 'services of 10 pods, namespace of 200, 3 changes at once',
    ...namespaceOf200,
    changes: 501,
    burst: 3,
    everyMs: 2_000,
  },
  {
    name: 'services of 10 pods, namespace of 200, storm of 50 a second',
    ...namespaceOf200,
    changes: 1_000,
    burst: 50,
    everyMs: 1_000,
  },
  {
    name: 'services of 50 pods, namespace of 5,000, one change at a time',
    ...{ namespaces: 1, services: 100, podsPerService: 50 },
    ...{ changes: 200, burst: 1, everyMs: 5_000 },
  },
  {
    name: 'services of 100 pods, namespace of 200, one change at a time',
    ...{ namespaces: 1, services: 2, podsPerService: 100 },
    ...{ changes: 200, burst: 1, everyMs: 5_000 },
  },
  {
    name: 'services of 1,000 pods, namespace of 1,000, one change at a time',
    ...{ namespaces: 1, services: 1, podsPerService: 1_000 },
    ...{ changes: 100, burst: 1, everyMs: 5_000 },
  },
];

export interface ChangeCost {
  readonly name: string;
  readonly changes: number;
  readonly usage: Usage;
}

export async function costOfChanges(): Promise<readonly ChangeCost[]> {
  const costs: ChangeCost[] = [];
  for (const scenario of scenarios)
    costs.push({ name: scenario.name, changes: scenario.changes, usage: await usageOf(scenario) });
  return costs;
}

/** US dollars a change, for the first scenario, that the history of its services makes of it. */
export async function costOfHistory(): Promise<number> {
  const [usual] = scenarios as readonly [Scenario];
  return (total(await usageOf(usual)) - total(await usageOf(usual, { historyDays: 0 }))) / usual.changes;
}

export function printChanges(costs: readonly ChangeCost[]): void {
  console.log(
    'A change of a pod’s readiness: what the relay forwards of it, what is written to the cluster, and the echoes of that\n',
  );
  console.log(
    '| | events a change | write units | read units | queue requests | log bytes | US dollars a million changes |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const { name, changes, usage } of costs) {
    const each = (n: number): string => (n / changes).toFixed(1);
    const { events, writeUnits, readUnits, queueRequests, logBytes } = usage;
    const cells = [
      name,
      each(events),
      each(writeUnits),
      each(readUnits),
      each(queueRequests),
      Math.round(logBytes / changes),
    ];
    console.log(`| ${cells.join(' | ')} | ${((total(usage) / changes) * 1e6).toFixed(2)} |`);
  }
  const [first] = costs;
  if (!first) return;
  const parts = Object.entries(dollarsOf(first.usage)).map(
    ([what, dollars]) => `${what} ${((dollars / first.changes) * 1e6).toFixed(2)}`,
  );
  console.log(`\nThe first row in parts: ${parts.join(', ')}.\n`);
}

async function usageOf(s: Scenario, settings: Partial<ClusterSettings> = {}): Promise<Usage> {
  const metered = await MeteredWorld.start(s, settings);
  const pods = metered.world.store.list('Pod');
  const ready = pods.map(() => true);
  const random = generator(7);
  return metered.usageOf(async (world) => {
    let { now } = world;
    for (let i = 0; i < s.changes; i += s.burst) {
      for (let b = 0; b < s.burst; b++) {
        const index = Math.floor(random() * pods.length);
        ready[index] = !ready[index];
        world.store.apply(withReadiness(pods[index] as RawObject, ready[index] === true, now));
      }
      now += s.everyMs;
      await world.runUntil(now);
    }
    await world.runUntil(now + 10_000);
  });
}
