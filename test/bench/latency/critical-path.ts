import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { clusterObjects, withReadiness } from '../cost/cluster-objects.ts';
import { AwsWorld } from './aws-world.ts';
import { MeasuredChanges } from './measured-changes.ts';
import type { Call } from './timed-ports.ts';

/**
 * Long against the window for which the relay gathers, so that calls that are made side by side begin
 * together.
 */
const callMs = 1_000;

export interface Step {
  readonly stage: string;
  /** Calls that were made side by side. */
  readonly calls: readonly string[];
}

/**
 * Returns the calls that a pod's change waits for, in order. Each call takes equally long, so the calls
 * before the slice's write are on the path.
 */
export async function criticalPath(): Promise<readonly Step[]> {
  const calls: Call[] = [];
  const given = clusterObjects({ namespaces: 1, services: 20, podsPerService: 10 });
  const world = await AwsWorld.start({ given, constantMs: callMs, onCall: (call) => calls.push(call) });
  const [pod] = world.store.list('Pod');
  // The caches of every container are warm after some changes.
  for (const isReady of [false, true, false, true]) {
    world.store.apply(withReadiness(pod as RawObject, isReady, world.now));
    await world.runFor(60 * callMs);
  }
  calls.length = 0;
  const changes = new MeasuredChanges(world);
  const startMs = world.now;
  changes.expect(pod?.metadata.uid ?? '', false);
  world.store.apply(withReadiness(pod as RawObject, false, world.now));
  await world.runFor(60 * callMs);
  const [latencyMs = 0] = changes.latenciesMs;
  const onTheWay = calls.filter((call) => call.endMs <= startMs + latencyMs);
  const steps: { stage: string; startMs: number; calls: string[] }[] = [];
  for (const call of onTheWay.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = steps.at(-1);
    // Calls that begin within the duration of another call run concurrently with it.
    if (last && last.stage === call.stage && call.startMs < last.startMs + callMs / 2)
      last.calls.push(call.what);
    else steps.push({ stage: call.stage, startMs: call.startMs, calls: [call.what] });
  }
  return steps;
}
