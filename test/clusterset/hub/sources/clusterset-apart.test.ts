/**
 * A cluster outside of every set pays nothing for Services across clusters: the wing is only asked if the
 * cluster takes part.
 */
import { Session } from 'node:inspector/promises';
import { expect, it } from 'vitest';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const wing = /\/(functions|shared)\/clusterset\//;
/** The entries of the doors, which ask if the cluster takes part. */
const asking =
  /(sweep-for-set|ingest-for-set|member-wake-ups|clusterset-membership)\.ts (isMember|mayTakePartInSet|membershipOf|memberWakeUps|onHeartbeat|onBatch|onSlice|check|steps|mayImport|leave)$/;
const ordinary = /\/functions\/sync\/service\/reconcile-service\.ts/;

/**
 * Resolves to a function that returns the named functions of matching files that `act` executed, as V8
 * counted them.
 */
async function executedBy(act: () => Promise<void>): Promise<(files: RegExp) => readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await act();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const executed = result.flatMap(({ url, functions }) =>
      functions
        .filter((f) => f.functionName !== '' && (f.ranges[0]?.count ?? 0) > 0)
        .map((f) => ({ url, name: f.functionName })),
    );
    return (files) =>
      executed
        .filter(({ url }) => files.test(url))
        .map(({ url, name }) => `${url.split('/').at(-1)} ${name}`);
  } finally {
    session.disconnect();
  }
}

it('a cluster that takes part in no set executes no function of the wing but the doors’ own, in ingest, sync and sweep', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  const executedIn = await executedBy(async () => {
    await pass(8);
    for (const pod of pods(5)) world.store.apply(pod);
    await pass(8);
    await switchMode(world.table, cluster, 'paused', world.now);
    await switchMode(world.table, cluster, 'active', world.now);
    await world.sendHeartbeat();
    await pass(13 * 3600);
  });
  expect(executedIn(ordinary)).toContain('reconcile-service.ts reconcileService');
  expect(executedIn(wing).filter((name) => !asking.test(name))).toEqual([]);
});
