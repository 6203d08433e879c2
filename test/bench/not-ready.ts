/**
 * `npm run bench -- not-ready`: what the reasons of pods that are not ready cost, in an hour of a cluster of
 * 5,000 pods of which 100 are in CrashLoopBackOff. The same hour runs with kubelet's container statuses and
 * without: then the relay has no reasons to send. Fails above 1 % more messages or units.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { generator, withReadiness } from './cost/cluster-objects.ts';
import { MeteredWorld, type Usage } from './cost/metered-world.ts';

const size = { namespaces: 25, services: 20, podsPerService: 10 };
const crashing = 100;
const hourMs = 3_600_000;
/** 20,000 changes a day. */
const changesAnHour = 833;
const mostMore = 0.01;

interface Step {
  readonly atMs: number;
  readonly apply: () => void;
}

async function usageOfHour(hasReasons: boolean): Promise<Usage> {
  const metered = await MeteredWorld.start(size);
  const { world } = metered;
  const pods = world.store.list('Pod') as readonly RawObject[];
  const random = generator(5);
  const steps: Step[] = [];
  const start = world.now;
  const every = Math.floor(pods.length / crashing);
  for (let i = 0; i < crashing; i++)
    steps.push(...crashLoop(pods[i * every] as RawObject, i % 2 === 0, start + random() * 60_000));
  const isReady = pods.map(() => true);
  for (let i = 0; i < changesAnHour; i++) {
    const index = Math.floor(random() * pods.length);
    if (index % every === 0) continue;
    steps.push({
      atMs: start + random() * hourMs,
      apply: () => {
        isReady[index] = !isReady[index];
        world.store.apply(withReadiness(pods[index] as RawObject, isReady[index] === true, world.now));
      },
    });
  }
  return metered.usageOf(async () => {
    let [heartbeatMs, listMs] = [start, start + hourMs / 2];
    for (const { atMs, apply } of steps.sort((a, b) => a.atMs - b.atMs)) {
      for (; heartbeatMs < atMs; heartbeatMs += 30_000) {
        await world.runUntil(heartbeatMs);
        await world.sendHeartbeat();
      }
      if (listMs < atMs) {
        await world.sendInventory('inventory', ['Pod', 'Service', 'Node']);
        listMs = Number.POSITIVE_INFINITY;
      }
      await world.runUntil(atMs);
      apply();
    }
    await world.runUntil(start + hourMs);
  });

  /**
   * A container that ends some seconds after each start, for kubelet's back-off of 10 s to 5 minutes. With a
   * readiness probe the pod is never ready, and without one it is while the container runs.
   */
  function crashLoop(pod: RawObject, hasProbe: boolean, firstMs: number): readonly Step[] {
    const loop: Step[] = [];
    let restartCount = 0;
    let [wasReady, sinceMs] = [true, 0];
    for (let atMs = firstMs, waitMs = 10_000; atMs < start + hourMs; waitMs = Math.min(300_000, waitMs * 2)) {
      const endMs = atMs + 2_000 + random() * 18_000;
      const ended = { exitCode: 1, reason: 'Error', startedAt: timeOf(atMs), finishedAt: timeOf(endMs) };
      const crashes = restartCount++;
      const show = (isReady: boolean, state: object) => (): void => {
        const status = { name: 'app', ready: isReady, restartCount: crashes, state };
        if (isReady !== wasReady) [wasReady, sinceMs] = [isReady, world.now];
        world.store.apply(withStatus(withReadiness(pod, isReady, sinceMs), isReady, status));
      };
      loop.push({ atMs, apply: show(!hasProbe, { running: { startedAt: timeOf(atMs) } }) });
      loop.push({ atMs: endMs, apply: show(false, { terminated: ended }) });
      loop.push({
        atMs: endMs + 1_000,
        apply: show(false, { waiting: { reason: 'CrashLoopBackOff' } }),
      });
      atMs = endMs + waitMs;
    }
    return loop.filter(({ atMs }) => atMs < start + hourMs);
  }

  function withStatus(pod: RawObject, isReady: boolean, container: object): RawObject {
    if (!hasReasons) return pod;
    const { status } = pod as unknown as { readonly status: { readonly conditions: readonly object[] } };
    const message = 'containers with unready status: [app]';
    const conditions = isReady
      ? status.conditions
      : [{ ...status.conditions[0], reason: 'ContainersNotReady', message }];
    return { ...pod, status: { ...status, conditions, containerStatuses: [container] } } as RawObject;
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

const [without, withReasons] = [await usageOfHour(false), await usageOfHour(true)];
console.log('| | without reasons | with reasons | more |');
console.log('| --- | --- | --- | --- |');
for (const what of ['events', 'queueRequests', 'writeUnits', 'readUnits'] as const) {
  const more = withReasons[what] / without[what] - 1;
  const row = [
    what,
    Math.round(without[what]),
    Math.round(withReasons[what]),
    `${(more * 100).toFixed(2)} %`,
  ];
  console.log(`| ${row.join(' | ')} |`);
  if (what !== 'events' && more > mostMore) process.exitCode = 1;
}
