/** `fleet-endpoints cluster` as a person would run it, on the table and queues of a local run. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { localHubFile, publishLocalAddresses } from '#infra/cli/connect-hub.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { drainCluster, switchMode } from '#shared/clusters/mode-switch.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { recordWriterConflict } from '#shared/clusters/writer-conflict.ts';
import { accessKey } from '#shared/store/keys.ts';
import { putObject } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { localHub } from './local-hub.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let hub: Awaited<ReturnType<typeof localHub>>;

beforeAll(async () => {
  hub = await localHub();
  const connectionsFile = join(hub.folder, 'connections.json');
  // Nobody listens there.
  await writeFile(connectionsFile, JSON.stringify({ 'not-ready': { server: 'http://127.0.0.1:9' } }));
  await publishLocalAddresses({ ...hub.addresses, connectionsFile, consoleUrl: '' });
});
afterAll(async () => {
  await rm(localHubFile(process.pid), { force: true });
  await hub?.close();
});

const cluster = (...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, HUB: String(process.pid), TABLE_NAME: '' };
    execFile(process.execPath, ['infra/command/fleet-endpoints.main.ts', 'cluster', ...args], { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    );
  });
const modeOf = async (id: string) => (await readCluster(hub.table, id))?.mode;

it.concurrent('tells what it takes, and which clusters there are', { timeout: 60_000 }, async () => {
  await hub.register('known');
  const answers = await Promise.all([
    cluster('frobnicate', 'known'),
    cluster('pause', 'unknown'),
    cluster('pause'),
    cluster('active', 'known', '--quiet-for', 'x'),
  ]);
  expect(answers.map((a) => a.code)).toEqual([2, 2, 2, 2]);
  expect(answers[0]?.output).toMatch(/unknown command 'frobnicate'[\s\S]*cluster --help/);
  expect(answers[1]?.output).toMatch(/no cluster unknown: there are .*known/);
  expect(answers[2]?.output).toMatch(/which cluster\? .*known/);
  expect(await modeOf('known')).toBe('active');
});

it.concurrent('a cluster that is not ready stays as it is, and every reason is told; --override switches it all the same', {
  timeout: 60_000,
}, async () => {
  await hub.register('not-ready');
  await switchMode(hub.table, 'not-ready', 'shadow', Date.now());
  const { code, output } = await cluster('active', 'not-ready');
  expect(code).toBe(2);
  for (const reason of [
    'first lists: not complete',
    'relay: never heard',
    'shadow: not every service has been woken',
    'reachable: ',
    'not-ready stays shadow',
  ])
    expect(output).toContain(reason);
  expect(await modeOf('not-ready')).toBe('shadow');
  expect(await listAudit(hub.table, 'not-ready')).toEqual([]);

  expect(await cluster('active', 'not-ready', '--override', '--reason', 'it must be')).toMatchObject({ code: 0 });
  expect(await modeOf('not-ready')).toBe('active');
  expect((await listAudit(hub.table, 'not-ready')).map((a) => a.what)).toEqual(['shadow → active (active with --override: it must be)']);
});

it.concurrent('a pause says until when a late worker may write and wakes nothing; the switch back wakes every service', {
  timeout: 60_000,
}, async () => {
  await hub.register('woken');
  const service = { namespace: 'ns', name: 'web', version: versionOf(1, '7'), projection: undefined, unnotifiedLabels: undefined, deletedAtMs: 1 };
  await hub.table.put({ pk: 'woken#NS', sk: 'ns/' });
  await putObject({ table: hub.table, cluster: 'woken' }, 'Service', service, undefined);
  const { code, output } = await cluster('pause', 'woken');
  expect(code).toBe(0);
  expect(output).toContain('pause on the local run');
  expect(output).toMatch(/active → paused\nwoken {2}a worker may still write until/);
  expect(await hub.take('woken', 'syncs')).toEqual([]);
  expect((await readCluster(hub.table, 'woken'))?.modeSwitch.owesWaking).toBe(false);
  expect((await cluster('active', 'woken', '--override')).output).toMatch(/paused → active, 1 services woken/);
  expect(await hub.take('woken', 'syncs')).toMatchObject([{ ns: 'ns', service: 'web', seq: { ep: 0, sl: 0 } }]);
  expect((await readCluster(hub.table, 'woken'))?.modeSwitch.owesWaking).toBe(false);
});

it.concurrent('two writers are shown, and `active` asks again before it believes that one is left', { timeout: 60_000 }, async () => {
  await hub.register('contested');
  await recordWriterConflict(hub.table, (await readCluster(hub.table, 'contested')) as ClusterRecord, Date.now());
  expect((await cluster('list')).output).toMatch(/contested +active .*open: two-writers/);
  const { code, output } = await cluster('active', 'contested');
  expect(code).toBe(2);
  expect(output).toContain('NOT  reachable');
  expect((await readCluster(hub.table, 'contested'))?.writerConflict).toBe(true);
  expect((await cluster('active', 'contested', '--override')).code).toBe(0);
  expect((await readCluster(hub.table, 'contested'))?.writerConflict).toBe(false);
});

it.concurrent('a cluster whose own controllers cannot be switched off is never active, whatever is said', { timeout: 60_000 }, async () => {
  await hub.register('on-eks');
  await switchMode(hub.table, 'on-eks', 'shadow');
  await hub.table.update(accessKey('on-eks'), { set: { api: JSON.stringify({ url: '', auth: { type: 'eks', clusterName: 'c' } }) } });
  expect(await cluster('active', 'on-eks', '--override')).toMatchObject({ code: 2, output: expect.stringContaining("on-eks can't be active: EKS") });
  expect(await modeOf('on-eks')).toBe('shadow');
});

it.concurrent('a cluster that has left is listed as such and cannot be switched', { timeout: 60_000 }, async () => {
  await hub.register('gone');
  await drainCluster(hub.table, 'gone');
  expect((await cluster('list')).output).toMatch(/^gone +draining: not written to since .*, its endpoints stay as they are$/m);
  expect(await cluster('active', 'gone', '--override')).toMatchObject({ code: 2, output: expect.stringContaining('gone has left') });
  expect(await modeOf('gone')).toBe('draining');
});

it('`pause --all` pauses every cluster that is there, whatever has left and whatever queue is away', { timeout: 60_000 }, async () => {
  await hub.register('still-here');
  await hub.register('left');
  await drainCluster(hub.table, 'left');
  const nowhere = 'http://127.0.0.1:9/000000000000/nowhere';
  await registerCluster(hub.table, {
    id: 'a-no-queue',
    mode: 'active',
    queues: { events: nowhere, syncs: nowhere, parked: nowhere, quarantine: nowhere },
  });
  const service = { namespace: 'ns', name: 'web', version: versionOf(1, '7'), projection: undefined, unnotifiedLabels: undefined, deletedAtMs: 1 };
  await hub.table.put({ pk: 'a-no-queue#NS', sk: 'ns/' });
  await putObject({ table: hub.table, cluster: 'a-no-queue' }, 'Service', service, undefined);
  const { code, output } = await cluster('pause', '--all', '--reason', 'stop everything');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(/^a-no-queue {2}active → paused$/m);
  expect(await Promise.all(['still-here', 'a-no-queue', 'known', 'left'].map(modeOf))).toEqual(['paused', 'paused', 'paused', 'draining']);
  expect((await listAudit(hub.table, 'still-here')).map((a) => a.what)).toEqual(['active → paused (pause: stop everything)']);
  expect((await cluster('shadow', 'a-no-queue')).output).toMatch(/^a-no-queue {2}paused → shadow, services are woken by sweep/m);
  expect((await readCluster(hub.table, 'a-no-queue'))?.modeSwitch.owesWaking).toBe(true);
});

it.concurrent('opt-in switches a cluster that is in shadow mode, on EKS as well, and leaves a record', { timeout: 60_000 }, async () => {
  const queues = { events: 'x', syncs: 'x', parked: 'x', quarantine: 'x' };
  await registerCluster(hub.table, { id: 'opts-in', mode: 'shadow', queues, api: { url: 'https://x', auth: { type: 'eks', clusterName: 'x' } } });
  await registerCluster(hub.table, { id: 'no-api', mode: 'shadow', queues });
  const refused = await Promise.all([
    cluster('opt-in', 'opts-in', 'on'),
    cluster('opt-in', 'no-api', 'active'),
    cluster('opt-in', 'nowhere', 'active'),
  ]);
  expect(refused.map((r) => r.code)).toEqual([2, 2, 2]);
  expect(refused.map((r) => r.output).join()).toMatch(
    /Allowed choices are off, shadow, active[\s\S]*no-api has no api to write to[\s\S]*nowhere is not a cluster/,
  );
  const { code, output } = await cluster('opt-in', 'opts-in', 'active', '--reason', 'first try');
  expect([code, output]).toEqual([0, expect.stringContaining('opts-in  opt-in off → active')]);
  expect(await readCluster(hub.table, 'opts-in')).toMatchObject({ mode: 'shadow', optIn: 'active' });
  expect((await listAudit(hub.table, 'opts-in')).map((a) => a.what)).toEqual(['opt-in off → active: first try']);
  expect((await cluster('opt-in', 'opts-in', 'off')).output).toContain('slices of Services that opt in stay as they are');
});
