/**
 * npm run test:faults [-- --seed N] runs the whole system on a real control plane with faults, for about six
 * minutes. No change may be lost, and in the end the cluster equals the output of both controllers.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readCluster } from '#shared/clusters/record.ts';
import { fieldManager } from '#shared/kube/names.ts';
import type { Api } from '#test/e2e/api.ts';
import { type ChurnLoad, runChurn } from '#test/support/control-plane/churn.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { failOvers, startSubject, upstreamsFailOverMs } from './faults/fail-over.ts';
import { startLife } from './faults/life.ts';
import { startRelayPair } from './faults/relay-pair.ts';
import { otherControllers, type Scene, startScene } from './faults/scene.ts';
import { unsettled } from './faults/settled.ts';
import { storm } from './faults/storm.ts';
import { until } from './faults/until.ts';

const { values } = programArguments({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    storm: { type: 'string', default: '120' },
    /** The relay's fail-over alone. */
    'fail-over-only': { type: 'boolean', default: false },
  },
});
const random = randomOf(Number(values.seed));
/** A lease, a message's visibility and a circuit's wait may come one after the other. */
const patienceMs = 180_000;
const load: Omit<ChurnLoad, 'seconds'> = {
  services: 10,
  pods: 10,
  rate: 20,
  settleSeconds: patienceMs / 1000,
  clean: false,
};

const startedAt = Date.now();
let passed = 0;
const failed: string[] = [];

/** An empty list of complaints is good. */
function check(what: string, complaints: readonly string[]): void {
  if (complaints.length === 0) passed++;
  else failed.push(what);
  const after = `${Math.round((Date.now() - startedAt) / 1000)} s`;
  console.log(`${complaints.length === 0 ? 'ok  ' : 'NOT '} ${what} (${after})`);
  for (const line of complaints.slice(0, 20)) console.log(`       ${line}`);
}

async function churned(scene: Scene, seconds: number): Promise<readonly string[]> {
  const { binary, kubeconfig } = scene.controlPlane;
  const { flips, endpoints, slices } = await runChurn(binary, kubeconfig, { ...load, seconds });
  console.log(
    `     ${flips} flips; Endpoints p50 ${endpoints.p50_ms} ms, most ${endpoints.max_ms} ms; slices p50 ${slices.p50_ms} ms, most ${slices.max_ms} ms`,
  );
  const lost = { Endpoints: endpoints.lost, slices: slices.lost };
  return Object.entries(lost).flatMap(([kind, n]) => (n > 0 ? [`${n} flips were lost in ${kind}`] : []));
}

/** Promises of docs/develop/architecture.md. */
const failOverMs = 10_000;

/** Hits the leading relay by each fault, and compares with kube-controller-manager's own fail-over. */
async function relayFailsOver(scene: Scene): Promise<void> {
  const life = await startLife(scene.api, 'fail-over-life', random);
  const subject = await startSubject(scene.api, 'fail-over');
  const pair = await startRelayPair(scene);
  const ms = (n: number | undefined): string => (n === undefined ? 'never' : `${Math.round(n)} ms`);
  for (const { what, spokeMs, followedMs } of await failOvers(pair, subject)) {
    const inTime = spokeMs !== undefined && spokeMs <= failOverMs && followedMs !== undefined;
    check(
      `the relay that speaks is ${what}: a relay speaks after ${ms(spokeMs)} (at most ${ms(failOverMs)}), endpoints follow after ${ms(followedMs)}`,
      inTime ? [] : ['too late'],
    );
  }
  pair.first.signal('SIGCONT');
  await life.stop();
  check(
    'thawed, the first one is one relay among others: nothing is left to do',
    await unsettled(scene, patienceMs),
  );
  await pair.stop();
  console.log(
    `     kube-controller-manager with its defaults, its leader killed: endpoints follow after ${ms(await upstreamsFailOverMs())}`,
  );
}

async function play(scene: Scene): Promise<void> {
  await relayFailsOver(scene);
  if (values['fail-over-only']) return;
  const life = await startLife(scene.api, 'life', random);

  const [lost, { kills, cuts, stalls, frozenMs }] = await Promise.all([
    churned(scene, Number(values.storm)),
    storm(scene, Number(values.storm), random),
  ]);
  console.log(
    `     ${kills} kills, ${cuts} cuts, ${stalls} stalls, a worker frozen for ${Math.round(frozenMs / 1000)} s`,
  );
  check('relay, ingest and sync killed, connections cut and stalled: no flip is lost', lost);
  check('a worker was frozen past its lease while it held one', frozenMs > 40_000 ? [] : ['it held none']);
  check(
    'after that nothing is left to do, and the cluster is as it must be',
    await unsettled(scene, patienceMs),
  );

  await scene.controlPlane.apiServer.stop();
  await sleep(60_000);
  await scene.controlPlane.apiServer.start();
  check('the API server away for a minute: the same', await unsettled(scene, patienceMs));

  const load = churned(scene, 30);
  await sleep(8_000);
  await scene.restart();
  check('everything killed and begun again from disk under load: no flip is lost', await load);

  const switches: string[] = [];
  for (const [verb, ...more] of [['pause'], ['active', '--override'], ['shadow'], ['active', '--override']]) {
    const { code, output } = await scene.command(verb as string, scene.cluster, ...more);
    if (code !== 0) switches.push(output);
    await sleep(3_000);
  }
  check('the mode is switched back and forth while the cluster lives on', switches);
  console.log(`     ${life.changes} changes of pods and services beside the load`);
  await life.stop();
  check(
    'after that nothing is left to do, and the cluster is as it must be',
    await unsettled(scene, patienceMs),
  );

  await writerConflict(scene);
}

/** Two writers undo each other's writes. Only the final state can be checked, and not single changes. */
async function writerConflict(scene: Scene): Promise<void> {
  const { controllerManager } = scene.controlPlane;
  const runs = async (controllers: string): Promise<void> => {
    await controllerManager.stop();
    await controllerManager.start([`--controllers=${controllers}`]);
  };
  // A second writer is a manager of many services in several namespaces.
  const lives = await Promise.all([1, 2, 3].map((i) => startLife(scene.api, `writer-conflict-${i}`, random)));
  await runs(`endpoints-controller,endpointslice-controller,${otherControllers}`);
  const stopped = await until(
    async () => (await readCluster(scene.hub.table, scene.cluster))?.writerConflict,
    120_000,
  );
  check(
    'kube-controller-manager beside us: we stop writing',
    stopped ? [] : ['no writer conflict is recorded'],
  );
  const { output } = await scene.command('list');
  check('and say so', output.includes('open: writer-conflict') ? [] : output.split('\n'));
  const refused = await scene.command('active', scene.cluster);
  check(
    '`active` is refused while it writes',
    refused.code === 2 && /switch them off/.test(refused.output) ? [] : refused.output.split('\n'),
  );
  const before = await lastWriteOfOurs(scene.api);
  await sleep(10_000);
  check(
    'nothing of ours is written meanwhile',
    (await lastWriteOfOurs(scene.api)) > before ? ['we have written'] : [],
  );

  await runs(otherControllers);
  const accepted = await scene.command('active', scene.cluster);
  check('`active` is accepted when it is gone', accepted.code === 0 ? [] : accepted.output.split('\n'));
  for (const life of lives) await life.stop();
  check('and everything becomes as it must be', await unsettled(scene, patienceMs));
}

/** ms since the epoch by the API server's clock. */
async function lastWriteOfOurs(api: Api): Promise<number> {
  const objects = [
    ...(await api.list('Endpoints', '')).items,
    ...(await api.list('EndpointSlice', '')).items,
  ];
  const times = objects
    .flatMap((o) => o.metadata.managedFields ?? [])
    .filter((m) => m.manager?.startsWith(fieldManager));
  return Math.max(0, ...times.map((m) => Date.parse(m.time ?? '')));
}

/** mulberry32. */
function randomOf(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

console.log(`seed ${values.seed}`);
// So that what was started is ended.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const scene = await startScene();
try {
  await play(scene);
} catch (e) {
  check('it went on to the end', [e instanceof Error ? (e.stack ?? e.message) : String(e)]);
} finally {
  if (failed.length > 0) console.log(scene.lines.slice(-200).join('\n'));
  await scene.stop();
}
// The failures are repeated at the end, where readers look. The processes' last output is above.
for (const what of failed) console.log(`NOT  ${what}: npm run test:faults -- --seed ${values.seed}`);
console.log(`${Math.round((Date.now() - startedAt) / 1000)} s`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
