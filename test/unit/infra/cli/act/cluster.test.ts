/** `fleet-endpoints cluster` as a person would run it, on the table and queues of a local run. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localHubFile, publishLocalAddresses } from '#infra/cli/hub/connect-hub.ts';
import { listAudit, recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { drainCluster, switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { recordCredentialsEnd } from '#shared/clusters/writer/readiness.ts';
import { recordWriterConflict } from '#shared/clusters/writer/writer-conflict.ts';
import { annotationSelector, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { accessKey, metaKey, workKey } from '#shared/store/keys.ts';
import { forgetOutputs, saveOutput } from '#shared/store/outputs/outputs.ts';
import { saveDifference } from '#shared/store/outputs/shadow-record.ts';
import { versionOf } from '#shared/store/version.ts';
import { localHub } from '#test/unit/infra/cli/hub/local-hub.ts';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
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
    execFile(
      process.execPath,
      ['infra/cli/command/fleet-endpoints.main.ts', 'cluster', ...args],
      { cwd: root, env },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr }),
    );
  });
const modeOf = async (id: string) => (await readCluster(hub.table, id))?.mode;

it.concurrent('the command prints its arguments, and the existing clusters', async () => {
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
  expect(await cluster('opt-in')).toMatchObject({
    code: 2,
    output: expect.stringMatching(/which cluster\? .*known/),
  });
  expect(await modeOf('known')).toBe('active');
});

it.concurrent('a cluster that is not ready stays unchanged, and every reason is printed; --override switches it anyway', async () => {
  await hub.register('not-ready');
  await switchMode(hub.table, 'not-ready', 'shadow', Date.now());
  const { code, output } = await cluster('active', 'not-ready');
  expect(code).toBe(2);
  for (const reason of [
    'first lists: not complete',
    'relay: no heartbeat yet',
    'shadow: some services have not been compared',
    'reachable: ',
    'not-ready stays shadow',
  ])
    expect(output).toContain(reason);
  expect(await modeOf('not-ready')).toBe('shadow');
  expect(await listAudit(hub.table, 'not-ready')).toEqual([]);

  expect(await cluster('active', 'not-ready', '--override', '--reason', 'it must be')).toMatchObject({
    code: 0,
  });
  expect(await modeOf('not-ready')).toBe('active');
  expect((await listAudit(hub.table, 'not-ready')).map((a) => a.what)).toEqual([
    'shadow → active (active with --override: it must be)',
  ]);
});

it.concurrent('a pause prints until when a late worker may write and wakes no service, and the switch back wakes every service', async () => {
  await hub.register('woken');
  const named = (name: string) => ({
    namespace: 'ns',
    name,
    version: versionOf(1, '7'),
    unnotifiedLabels: undefined,
  });
  const projection = encodeProjection('Service', { metadata: { namespace: 'ns', name: 'web' } });
  await hub.table.put({ pk: 'woken#NS', sk: 'ns/' });
  const canary = 'fleet-endpoints-canary-x';
  for (const service of [
    { ...named('web'), projection, deletedAtMs: 0 },
    { ...named('gone'), projection: undefined, deletedAtMs: 1 },
    { ...named(canary), projection, deletedAtMs: 0 },
  ])
    await putObject({ table: hub.table, cluster: 'woken' }, 'Service', service, undefined);
  const { code, output } = await cluster('pause', 'woken');
  expect(code).toBe(0);
  expect(output).toContain('pause on the local run');
  expect(output).toMatch(/active → paused\nwoken {2}a worker may still write until/);
  expect(await hub.take('woken', 'syncs')).toEqual([]);
  expect((await readCluster(hub.table, 'woken'))?.modeSwitch.wakesPending).toBe(false);
  expect((await cluster('active', 'woken', '--override')).output).toMatch(/paused → active, 1 service woken/);
  expect(await hub.take('woken', 'syncs')).toMatchObject(
    [canary, 'gone', 'web'].map((name) => ({
      namespace: 'ns',
      kind: 'service',
      name,
      retryNumbers: { endpoints: 0, slices: 0 },
    })),
  );
  expect((await readCluster(hub.table, 'woken'))?.modeSwitch.wakesPending).toBe(false);
});

it.concurrent('the list shows the days until the credentials in a secret end', async () => {
  const api = { url: 'https://api.example.com', auth: { type: 'secret', secretArn: 'arn' } } as const;
  await registerCluster(hub.table, { id: 'ending', mode: 'shadow', api }, Date.now());
  await recordCredentialsEnd(hub.table, 'ending', Date.now() + 6.5 * 86_400_000);
  expect((await cluster('list')).output).toMatch(
    /^ending +the credentials in its secret end in 6 days: \d{4}-\d\d-\d\dT/m,
  );
  await recordCredentialsEnd(hub.table, 'ending', Date.parse('2026-01-02T03:04:05Z'));
  expect((await cluster('list')).output).toMatch(
    /^ending +the credentials in its secret ended 2026-01-02T03:04:05Z$/m,
  );
  await recordCredentialsEnd(hub.table, 'ending', 0);
  expect((await cluster('list')).output).not.toMatch(/in its secret/);
});

it.concurrent('two writers are shown, and `active` asks again before it believes that one is left', async () => {
  await hub.register('conflicting');
  await recordWriterConflict(
    hub.table,
    (await readCluster(hub.table, 'conflicting')) as ClusterRecord,
    Date.now(),
  );
  expect((await cluster('list')).output).toMatch(/conflicting +active .*open: writer-conflict/);
  const { code, output } = await cluster('active', 'conflicting');
  expect(code).toBe(2);
  expect(output).toContain('NOT  reachable');
  expect((await readCluster(hub.table, 'conflicting'))?.writerConflict).toBe(true);
  expect((await cluster('active', 'conflicting', '--override')).code).toBe(0);
  expect((await readCluster(hub.table, 'conflicting'))?.writerConflict).toBe(false);
});

it.concurrent('a cluster whose own controllers cannot be switched off is never active with any option', async () => {
  await hub.register('on-eks');
  await switchMode(hub.table, 'on-eks', 'shadow', Date.now());
  await hub.table.update(accessKey('on-eks'), {
    set: { api: JSON.stringify({ url: '', auth: { type: 'eks', clusterName: 'c' } }) },
  });
  expect(await cluster('active', 'on-eks', '--override')).toMatchObject({
    code: 2,
    output: expect.stringContaining("on-eks can't be active: EKS"),
  });
  expect(await modeOf('on-eks')).toBe('shadow');
});

it.concurrent('a cluster that has left is listed as such and cannot be switched', async () => {
  await hub.register('gone');
  await drainCluster(hub.table, 'gone', Date.now());
  expect((await cluster('list')).output).toMatch(
    /^gone +draining: the hub does not write to it since .*, and its endpoints stay as they are$/m,
  );
  expect(await cluster('active', 'gone', '--override')).toMatchObject({
    code: 2,
    output: expect.stringContaining('gone is deregistered'),
  });
  expect(await modeOf('gone')).toBe('draining');
});

it.concurrent('a pause of a cluster whose Services opt in prints the same time, for another hub', async () => {
  for (const [id, optIn] of [
    ['opted-in', 'active'],
    ['compared', 'off'],
  ] as const) {
    await hub.register(id);
    await switchMode(hub.table, id, 'shadow', Date.now());
    await switchOptIn(hub.table, id, optIn, Date.now());
  }
  expect((await cluster('pause', 'opted-in')).output).toMatch(
    /^opted-in {2}a worker may still write until \S+Z: let another hub write after that$/m,
  );
  expect((await cluster('pause', 'compared')).output).not.toContain('may still write');
});

it('`pause --all` pauses every registered cluster, with removed clusters and clusters without queues in the list', async () => {
  await hub.register('still-here');
  await hub.register('left');
  await drainCluster(hub.table, 'left', Date.now());
  const nowhere = 'http://127.0.0.1:9/000000000000/nowhere';
  await registerCluster(
    hub.table,
    {
      id: 'a-no-queue',
      mode: 'active',
      queues: { events: nowhere, syncs: nowhere, parked: nowhere, quarantine: nowhere },
    },
    Date.now(),
  );
  const service = {
    namespace: 'ns',
    name: 'web',
    version: versionOf(1, '7'),
    projection: undefined,
    unnotifiedLabels: undefined,
    deletedAtMs: 1,
  };
  await hub.table.put({ pk: 'a-no-queue#NS', sk: 'ns/' });
  await putObject({ table: hub.table, cluster: 'a-no-queue' }, 'Service', service, undefined);
  const { code, output } = await cluster('pause', '--all', '--reason', 'stop everything');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(/^a-no-queue {2}active → paused$/m);
  expect(await Promise.all(['still-here', 'a-no-queue', 'known', 'left'].map(modeOf))).toEqual([
    'paused',
    'paused',
    'paused',
    'draining',
  ]);
  expect((await listAudit(hub.table, 'still-here')).map((a) => a.what)).toEqual([
    'active → paused (pause: stop everything)',
  ]);
  expect((await cluster('shadow', 'a-no-queue')).output).toMatch(
    /^a-no-queue {2}paused → shadow, sweep enqueues the services/m,
  );
  expect((await readCluster(hub.table, 'a-no-queue'))?.modeSwitch.wakesPending).toBe(true);
});

it.concurrent('opt-in switches a cluster that is in shadow mode, on EKS as well, and leaves a record', async () => {
  const queues = { events: 'x', syncs: 'x', parked: 'x', quarantine: 'x' };
  await registerCluster(
    hub.table,
    {
      id: 'opts-in',
      mode: 'shadow',
      queues,
      api: { url: 'https://x', auth: { type: 'eks', clusterName: 'x' } },
    },
    Date.now(),
  );
  const refused = await Promise.all([
    cluster('opt-in', 'opts-in', 'on'),
    cluster('opt-in', 'opts-in', 'active', '--withdraw'),
    cluster('opt-in', 'opts-in', 'off', '--withdraw', '--abandon'),
    cluster('opt-in', 'nowhere', 'active'),
    cluster('opt-in', 'opts-in', 'active'),
  ]);
  expect(refused.map((r) => r.code)).toEqual([2, 2, 2, 2, 2]);
  const told = refused.map((r) => r.output).join('\n');
  expect(told).toMatch(
    /Allowed choices are off, shadow, active[\s\S]*--withdraw goes with off[\s\S]*--abandon goes with off[\s\S]*no cluster nowhere: there are/,
  );
  expect(told).toMatch(
    /NOT {2}first lists: [\s\S]*NOT {2}reachable: there is no connection to it[\s\S]*opts-in stays opt-in off: see above/,
  );
  expect((await readCluster(hub.table, 'opts-in'))?.optIn).toBe('off');
  const { code, output } = await cluster(
    'opt-in',
    'opts-in',
    'active',
    '--override',
    '--reason',
    'first try',
  );
  expect([code, output]).toEqual([0, expect.stringContaining('opts-in  opt-in off → active')]);
  expect(await readCluster(hub.table, 'opts-in')).toMatchObject({ mode: 'shadow', optIn: 'active' });
  expect((await listAudit(hub.table, 'opts-in')).map((a) => a.what)).toEqual([
    'opt-in off → active with --override: first try',
  ]);
  expect((await cluster('list')).output).toMatch(/opts-in +shadow +active /);
  expect((await cluster('opt-in', 'opts-in', 'off')).output).toContain(
    'opt-in opts-in off --withdraw deletes them',
  );
  expect((await cluster('opt-in', 'opts-in', 'off', '--abandon')).output).toContain(
    'opts-in  its stack may be deleted',
  );
  expect((await readCluster(hub.table, 'opts-in'))?.abandonsOptIn).toBe(true);
  expect((await listAudit(hub.table, 'opts-in')).at(-1)?.what).toBe('opt-in off → off with --abandon');
});

describe('services that opt in', () => {
  const slice = (uid: string) => ({
    metadata: { name: 'web-1', uid, labels: { [labelSliceManagedBy]: optInManagedBy } },
    endpoints: [],
  });
  async function withService(id: string, spec: object): Promise<void> {
    await hub.register(id);
    await switchMode(hub.table, id, 'shadow', Date.now());
    await switchOptIn(hub.table, id, 'active', Date.now());
    const metadata = {
      namespace: 'ns',
      name: 'web',
      uid: 'u',
      annotations: { [annotationSelector]: 'app=web' },
    };
    const projection = encodeProjection('Service', { metadata, spec });
    await hub.table.put({ pk: `${id}#NS`, sk: 'ns/' });
    const record = {
      namespace: 'ns',
      name: 'web',
      version: versionOf(1, '7'),
      projection,
      unnotifiedLabels: undefined,
      deletedAtMs: 0,
    };
    await putObject({ table: hub.table, cluster: id }, 'Service', record, undefined);
    const object = slice('s');
    await saveOutput(hub.table, key(id), {
      kind: 'EndpointSlice',
      name: 'web-1',
      uid: 's',
      version: versionOf(1, '8'),
      generation: 1,
      object,
    });
  }
  const key = (id: string) => ({ cluster: id, namespace: 'ns', name: 'web' });

  it.concurrent('services that opt in are listed with who writes them and what would be written', async () => {
    await withService('listed', { ports: [{ port: 80 }] });
    expect((await cluster('opt-in', 'listed')).output).toMatch(
      /listed {2}opt-in active, mode shadow: 1 Service with the annotation fleet-endpoints\/selector\n {2}ns\/web {2}fleet-endpoints, opt-in\n/,
    );
    await switchOptIn(hub.table, 'listed', 'shadow', Date.now());
    await saveDifference(hub.table, key('listed'), {
      text: '["EndpointSlices: would be written: x"]',
      sinceMs: 1,
      confirmed: false,
    });
    const { output } = await cluster('opt-in', 'listed');
    expect(output).toContain('ns/web  no writer: preview');
    expect(output).toContain('Preview:\n        EndpointSlices: would be written: x');
  });

  it.concurrent('services that opt in are not withdrawn while the relay counts more with slices than the hub knows after a rebuild', async () => {
    await withService('rebuilt', { ports: [{ port: 80 }] });
    await forgetOutputs(hub.table, key('rebuilt'), ['EndpointSlice']);
    await hub.table.update(metaKey('rebuilt'), { set: { annotated: '1 0 1 0', optIn: 'off' } });
    expect(await cluster('opt-in', 'rebuilt', 'off', '--withdraw', '--wait-for', '0')).toMatchObject({
      code: 2,
      output: expect.stringContaining(
        'rebuilt stays opt-in off: its relay counts 1 Service with slices of the hub, whose records have 0',
      ),
    });
    expect((await readCluster(hub.table, 'rebuilt'))?.withdrawsOptIn).toBe(false);
  });

  it.concurrent('services that opt in are withdrawn only where they have their selectors, or by --override, and it waits until they are gone', async () => {
    await withService('withdrawn', { ports: [{ port: 80 }] });
    const refused = await cluster('opt-in', 'withdrawn', 'off', '--withdraw');
    expect(refused).toMatchObject({
      code: 2,
      output: expect.stringMatching(/stays opt-in active: 1 services have no selector, .*: ns\/web\. Add/),
    });
    expect((await readCluster(hub.table, 'withdrawn'))?.withdrawsOptIn).toBe(false);
    const inVain = await cluster('opt-in', 'withdrawn', 'off', '--withdraw', '--override', '--wait-for', '0');
    expect(inVain).toMatchObject({
      code: 1,
      output: expect.stringContaining('withdrawn stays withdrawing: 1 services have slices of ours'),
    });
    expect((await cluster('list')).output).toMatch(/withdrawn +shadow +withdrawing /);
    const waiting = cluster('opt-in', 'withdrawn', 'off', '--withdraw', '--override');
    // As sync would do.
    const gone = {
      kind: 'EndpointSlice',
      name: 'web-1',
      uid: 's',
      version: versionOf(1, '9'),
      generation: 1,
      object: undefined,
    } as const;
    await saveOutput(hub.table, key('withdrawn'), gone);
    await hub.table.delete(workKey({ cluster: 'withdrawn', namespace: 'ns', kind: 'service', name: 'web' }));
    await vi.waitFor(async () => {
      await hub.table.delete(
        workKey({ cluster: 'withdrawn', namespace: 'ns', kind: 'service', name: 'web' }),
      );
      expect(await readCluster(hub.table, 'withdrawn')).toMatchObject({
        optIn: 'off',
        withdrawsOptIn: false,
      });
    }, 120_000);
    expect(await waiting).toMatchObject({
      code: 0,
      output: expect.stringContaining('withdrawn  all are deleted'),
    });
    const audits = (await listAudit(hub.table, 'withdrawn')).map((a) => a.what);
    // The hub's clock does not order two processes within a second.
    expect(audits).toHaveLength(3);
    expect(audits).toEqual(
      expect.arrayContaining([
        'slices of 1 Service withdrawn with --override: ns/web',
        expect.stringContaining('slices of'),
        'opt-in active → off with --override',
      ]),
    );
  });
});

it.concurrent('audit records are printed in the order of the switches, with times of whole seconds', async () => {
  await hub.register('audited');
  expect((await cluster('audit', 'audited')).output).toMatch(/there are no audit records/);
  // The clock of the machine that switched first is ahead.
  for (const [at, what] of [
    ['2026-01-02T00:00:07.097Z', 'paused → active'],
    ['2026-01-02T00:00:07.002Z', 'active → shadow'],
  ] as const)
    await recordAudit(hub.table, 'audited', { at, who: 'x', what });
  const { output } = await cluster('audit', 'audited');
  expect(output.split('\n').filter((line) => line.includes('audited'))).toEqual([
    '2026-01-02T00:00:07Z  audited  x  paused → active',
    '2026-01-02T00:00:07Z  audited  x  active → shadow',
  ]);
});
