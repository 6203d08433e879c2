import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { clusterObjects, withReadiness } from '../cost/cluster-objects.ts';
import { AwsWorld } from './aws-world.ts';
import { MeasuredChanges } from './measured-changes.ts';
import { flips } from './scenarios.ts';
import type { Call } from './timed-ports.ts';

export type CallCount = Pick<Call, 'stage' | 'what' | 'bytes' | 'units'>;

/** Returns the calls of a warm hub for one change, with those for the echoes of its writes, in order. */
export async function callsOfOneChange(): Promise<readonly CallCount[]> {
  const calls: Call[] = [];
  const given = clusterObjects({ namespaces: 1, services: 20, podsPerService: 10 });
  const world = await AwsWorld.start({ given, constantMs: 1_000, onCall: (call) => calls.push(call) });
  const [pod] = world.store.list('Pod');
  // The caches of every container are warm after some changes.
  for (const isReady of [false, true, false, true, false]) {
    calls.length = 0;
    world.store.apply(withReadiness(pod as RawObject, isReady, world.now));
    await world.runFor(60_000);
  }
  return calls.toSorted((a, b) => a.startMs - b.startMs);
}

const seconds = 10;

const loads = [
  { services: 20, podsPerService: 10, rate: 20 },
  { services: 50, podsPerService: 20, rate: 100 },
  { services: 100, podsPerService: 20, rate: 300 },
];

export async function callsByRate(): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const { rate, ...size } of loads) {
    const calls = { relay: 0, ingest: 0, sync: 0 };
    const onCall = ({ stage }: Call): void => {
      calls[stage as keyof typeof calls]++;
    };
    const world = await AwsWorld.start({ given: clusterObjects({ namespaces: 1, ...size }), onCall });
    const changes = new MeasuredChanges(world);
    await flips(rate * seconds, 1_000 / rate)(world, changes);
    const { length: count } = changes.latenciesMs;
    const { runs, lambdaMs } = world.work;
    const each = Object.values(calls).map((n) => (n / count).toFixed(1));
    const cells = [
      changes.summary(),
      ((100 * runs) / count).toFixed(0),
      each.join(', '),
      (lambdaMs / count).toFixed(0),
    ];
    rows.push(`| ${size.services} × ${size.podsPerService}, ${rate}/s | ${cells.join(' | ')} |`);
  }
  return rows;
}
