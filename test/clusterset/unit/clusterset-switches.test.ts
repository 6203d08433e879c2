/** `cluster imports`, `cluster exports`, and their state in `cluster list`. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { optInCommand } from '#infra/cli/act/opt-in-switch.ts';
import { listOfClusters } from '#infra/cli/ask/lists/cluster-list.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { exportsCommand } from '#infra/clusterset/act/exports-switch.ts';
import { importsCommand } from '#infra/clusterset/act/imports-switch.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { drainCluster, switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveExportEntry } from '#shared/clusterset/store/clusterset-index.ts';
import { saveExportMark } from '#shared/clusterset/store/exports-of-cluster.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const api = { url: 'https://c.example', auth: { type: 'eks', clusterName: 'c' } } as const;
const prod = {
  ...noMembership,
  set: 'prod',
  exports: { namespaces: ['web'], podCidrs: ['10.20.0.0/16'] },
} as const;

let printed: string[];
beforeEach(() => {
  printed = [];
  vi.useFakeTimers({ now, toFake: ['Date'] });
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function start(clusterset: ClustersetMembership | undefined = prod) {
  const table = memoryTable();
  const hub = { name: 'the hub', table, now: () => now, connectionsFile: undefined } as unknown as Hub;
  const add = (id: string, membership: ClustersetMembership | undefined, withApi = true) =>
    registerCluster(
      table,
      { id, mode: 'shadow', ...(withApi && { api }), ...(membership && { clusterset: membership }) },
      now,
    );
  await add('a', clusterset);
  const wake = async () => '3 services woken';
  return {
    table,
    hub,
    add,
    imports: (imports: 'off' | 'shadow' | 'active' | undefined, more = {}) =>
      importsCommand(hub, { id: 'a', imports, ...more }, wake),
    exports: (exports: string | undefined, more = {}) =>
      exportsCommand(hub, { id: 'a', exports, ...more }, wake),
    membership: async () => membershipOf((await readCluster(table, 'a')) as ClusterRecord),
    audit: async () => (await listAudit(table, 'a')).map((entry) => entry.what),
  };
}

/** As sweep and relay leave it in a cluster that is ready. */
async function ready(
  table: Awaited<ReturnType<typeof start>>['table'],
  imports: readonly string[] | undefined,
): Promise<void> {
  const lists = Object.fromEntries(
    ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice'].map((kind) => [`firstList_${kind}`, 1]),
  );
  const rights = JSON.stringify({ at: now - 60_000, missing: [], optIn: [], ...(imports && { imports }) });
  await table.update(metaKey('a'), { set: { ...lists, rights, heartbeatAt: now - 5_000 } });
}

describe('the switch of imports', () => {
  it('imports are switched within a set, with an audit record and a wake-up of every service', async () => {
    const { table, imports, membership, audit } = await start();
    await imports('shadow', { reason: 'first look' });
    expect(await membership()).toEqual({ ...prod, imports: 'shadow' });
    expect(await audit()).toEqual(['imports off → shadow: first look']);
    expect(printed).toEqual(['a  imports off → shadow, 3 services woken']);
    expect((await readCluster(table, 'a'))?.modeSwitch.wakesPending).toBe(true);
  });

  it('imports are active only with a live relay and all rights of the writer, each of which is printed', async () => {
    const { table, imports, membership, audit } = await start();
    await expect(imports('active')).rejects.toThrow(
      new UsageError('a keeps imports off: see above; --override switches it anyway'),
    );
    expect(printed.join('\n')).toMatch(
      /NOT {2}first lists: [\s\S]*NOT {2}relay: no heartbeat yet[\s\S]*NOT {2}rights: unknown: sweep checks a cluster of a set/,
    );
    await ready(table, ['create services', 'patch serviceimports/status']);
    printed.length = 0;
    await expect(imports('active')).rejects.toThrow('a keeps imports off');
    expect(printed.join('\n')).toContain(
      'NOT  rights: missing: create services, patch serviceimports/status',
    );
    expect(printed.at(-1)).toBe(
      'a  to allow it, put imports: shadow or active into clusters.yaml, and apply relay manifest a',
    );
    expect([(await membership())?.imports, await audit()]).toEqual(['off', []]);
    await ready(table, []);
    await imports('active');
    expect([(await membership())?.imports, await audit()]).toEqual(['active', ['imports off → active']]);
  });

  it('the switch prints that imports of a cluster stay when its imports are switched off', async () => {
    const { imports, audit } = await start({ ...prod, imports: 'active' });
    await imports('off');
    expect(printed.join('\n')).toContain(
      'a off --withdraw deletes it, or kubectl delete serviceimports -A -l app.kubernetes.io/managed-by=fleet-endpoints',
    );
    await imports('active', { override: true });
    expect(await audit()).toEqual(
      expect.arrayContaining(['imports active → off', 'imports off → active with --override']),
    );
  });

  it('existing imports of another set are printed, by the switch and without a value, and stay', async () => {
    const { table, imports } = await start();
    const left = (
      name: string,
      set: string,
      labels: object = { 'app.kubernetes.io/managed-by': 'fleet-endpoints' },
    ) => {
      const metadata = {
        namespace: 'shop',
        name,
        uid: name,
        labels,
        annotations: { 'fleet-endpoints/clusterset': set },
      };
      const projection = encodeProjection('ServiceImport', {
        metadata,
        spec: { type: 'ClusterSetIP', ports: [] },
      } as never);
      return putObject(
        { table, cluster: 'a' },
        'ServiceImport',
        {
          namespace: 'shop',
          name,
          version: versionOf(1, '1'),
          projection,
          unnotifiedLabels: undefined,
          deletedAtMs: 0,
        },
        undefined,
      );
    };
    for (const name of ['web', 'api']) await left(name, 'former');
    await left('ours', 'prod');
    await left('theirs', 'elsewhere', {});
    const told =
      /^a {2}2 ServiceImports are there of set former, not prod: shop\/api, shop\/web\. This hub leaves them as they are; if its own set was/;
    await imports(undefined);
    expect(printed.at(-1)).toMatch(told);
    printed.length = 0;
    await imports('shadow');
    expect(printed.filter((line) => told.test(line))).toHaveLength(1);
    expect(printed.join('\n')).not.toContain('elsewhere');
  });

  it('a cluster without an API, outside of sets, or deregistered is refused with instructions', async () => {
    const { table, hub, add, imports } = await start();
    const other = (id: string) => importsCommand(hub, { id, imports: 'active' }, async () => '');
    await add('without-api', prod, false);
    await expect(other('without-api')).rejects.toThrow(
      'without-api has no api to write to: off and shadow are allowed without one',
    );
    await add('alone', undefined);
    await expect(other('alone')).rejects.toThrow(
      'alone is in no clusterset: give it imports: shadow in clusters.yaml',
    );
    await expect(other('nowhere')).rejects.toThrow('no cluster nowhere: there are a, alone, without-api');
    await drainCluster(table, 'a', Date.now());
    await expect(imports('active')).rejects.toThrow('a is deregistered');
  });
});

describe('the switch of exports', () => {
  it('the namespaces of exports are switched, with an audit record, and keep the ranges of the pods', async () => {
    const { exports, membership, audit } = await start();
    await exports('web,api,web');
    expect((await membership())?.exports).toEqual({ namespaces: ['web', 'api'], podCidrs: ['10.20.0.0/16'] });
    await exports('all');
    await exports('none', { reason: 'an incident' });
    expect((await membership())?.exports.namespaces).toEqual([]);
    expect(await audit()).toEqual(
      expect.arrayContaining([
        'exports web → web,api',
        'exports web,api → all',
        'exports all → none: an incident',
      ]),
    );
    expect(printed[0]).toBe('a  exports web → web,api, 3 services woken');
  });

  it.each([
    ['Web', '"Web" is not the name of a namespace: all, none, or names with "," between them'],
    ['web,', '"" is not the name of a namespace'],
    ['web,kube-system', 'kube-system: never exported, as none of kube-system, kube-public'],
  ])('exports of %s are refused with the allowed values', async (typed, said) => {
    const { exports, audit } = await start();
    await expect(exports(typed)).rejects.toThrow(said);
    expect(await audit()).toEqual([]);
  });

  it('exports are refused without ranges of pods, in no set, and where ranges of two clusters overlap', async () => {
    const { add, exports } = await start({ ...noMembership, set: 'prod', imports: 'shadow' });
    await expect(exports('web')).rejects.toThrow(
      "a has no ranges for its pods' addresses: give it exports: { namespaces: […], podCidrs: […] }",
    );
    const overlapping = await start();
    await overlapping.add('b', { ...prod, exports: { namespaces: ['web'], podCidrs: ['10.20.128.0/17'] } });
    await expect(overlapping.exports('api')).rejects.toThrow(
      'podCidrs of a and of b overlap: 10.20.0.0/16 and 10.20.128.0/17',
    );
    await add('b', undefined);
    const alone = await start(undefined);
    await expect(registerCluster(alone.table, { id: 'a', mode: 'shadow' }, now)).resolves.toBeUndefined();
  });

  it('exports are refused without an API, and withdrawn without one', async () => {
    const { table, hub, add } = await start();
    await add('without-api', prod, false);
    const exports = (typed: string) =>
      exportsCommand(hub, { id: 'without-api', exports: typed, override: true }, async () => '');
    await expect(exports('web,api')).rejects.toThrow(
      'without-api has no api, which the hub asks before it withdraws endpoints: give it api',
    );
    await exports('none');
    expect(
      membershipOf((await readCluster(table, 'without-api')) as ClusterRecord).exports.namespaces,
    ).toEqual([]);
  });

  it('an export is not taken from importers that have no other, but by --override', async () => {
    const { table, exports, membership, audit } = await start();
    await saveExportMark(table, { set: 'prod', namespace: 'web', name: 'cart' }, 'a', '1 1');
    await saveExportEntry(
      table,
      { set: 'prod', namespace: 'web', name: 'cart', cluster: 'a' },
      '{"cluster":"a"}',
    );
    await expect(exports('api')).rejects.toThrow(
      'a keeps exports web: it is the only cluster that exports web/cart, and its importers would lose',
    );
    await exports('web,api');
    await exports('api', { override: true });
    expect((await membership())?.exports.namespaces).toEqual(['api']);
    expect(await audit()).toContain('exports web,api → api with --override');
    await exports('web');
    await saveExportEntry(
      table,
      { set: 'prod', namespace: 'web', name: 'cart', cluster: 'b' },
      '{"cluster":"b"}',
    );
    await exports('none');
    expect((await membership())?.exports.namespaces).toEqual([]);
  });

  it('opt-in is not switched off while a Service that opts in is exported, but by --override', async () => {
    const { table, hub } = await start();
    await switchOptIn(table, 'a', 'active', now);
    const optIn = (to: 'off' | 'shadow', more = {}) =>
      optInCommand(hub, { id: 'a', optIn: to, ...more }, async () => '3 services woken');
    await table.put({ pk: 'a#NS', sk: 'web/' });
    for (const name of ['cart', 'own']) {
      const metadata = { namespace: 'web', name, annotations: { [annotationSelector]: 'app=cart' } };
      const projection = encodeProjection('Service', { metadata, spec: { ports: [{ port: 80 }] } });
      const record = {
        namespace: 'web',
        name,
        version: versionOf(1, '7'),
        projection,
        unnotifiedLabels: undefined,
        deletedAtMs: 0,
      };
      await putObject({ table, cluster: 'a' }, 'Service', record, undefined);
    }
    await saveExportMark(table, { set: 'prod', namespace: 'web', name: 'cart' }, 'a', '1 1');
    await expect(optIn('off')).rejects.toThrow(
      /^a stays opt-in active: 1 Service that opts in is exported: web\/cart\./,
    );
    await optIn('shadow');
    await expect(optIn('off')).rejects.toThrow('a stays opt-in shadow');
    await optIn('off', { override: true });
    expect(await readCluster(table, 'a')).toMatchObject({ optIn: 'off' });
    expect((await listAudit(table, 'a')).map((a) => a.what)).toContain('opt-in shadow → off with --override');
    await optIn('off');
  });

  it('a paused cluster prints when its switch takes effect', async () => {
    const { table, exports } = await start();
    await switchMode(table, 'a', 'paused', now);
    await exports('none');
    expect(printed).toEqual([
      'a  exports web → none, 3 services woken (the cluster is paused: withdrawals take effect now, new exports when it is switched back)',
    ]);
  });
});

it('a kind of the API that a cluster needs without having sent a list of it is named, for exports and for imports', async () => {
  const { table, imports } = await start({ ...prod, imports: 'active' });
  const told = async (): Promise<readonly string[]> => {
    printed.length = 0;
    await imports(undefined);
    return printed
      .filter((line) => line.includes('has sent no list of'))
      .map((line) => line.replace(/.*no list of (\w+):.*/, '$1'));
  };
  expect(await told()).toEqual(['ServiceExports', 'ServiceImports']);
  await table.update(metaKey('a'), { set: { firstList_ServiceExport: 1 } });
  expect(await told()).toEqual(['ServiceImports']);
  await table.update(metaKey('a'), { set: { firstList_ServiceImport: 1 } });
  expect(await told()).toEqual([]);
});

const people = { color: 'never', isLocalTime: false } as const;

it('the state of a cluster in its set is printed without a switch, and in the list of clusters if there is a set', async () => {
  const { table, hub, add, imports, audit } = await start();
  await imports(undefined);
  expect(printed.slice(0, 2)).toEqual([
    'a  clusterset prod: imports off, exports web',
    '    addresses of its pods: 10.20.0.0/16',
  ]);
  expect(await audit()).toEqual([]);
  await add('b', undefined);
  printed.length = 0;
  await listOfClusters(hub, people)();
  expect(printed.map((line) => line.split(/ {2,}/).slice(0, 5))).toEqual([
    ['cluster', 'mode', 'opt-in', 'imports', 'exports'],
    ['a', 'shadow', 'off', 'off', 'web'],
    ['b', 'shadow', 'off', '-', '-'],
  ]);
  printed.length = 0;
  await listOfClusters(hub, { ...people, format: 'json' })();
  expect(JSON.parse(printed.join('\n')).map((c: { clusterset: object }) => c.clusterset)).toEqual([
    { name: 'prod', imports: 'off', exports: 'web' },
    null,
  ]);
  await saveMembership(table, 'a', noMembership);
});

it('the list of clusters names the number of Services without a writer', async () => {
  const { table, hub, add } = await start();
  await add('b', undefined);
  await table.update(metaKey('a'), { set: { annotated: '2 1', optIn: 'active' } });
  printed.length = 0;
  await listOfClusters(hub, people)();
  expect(printed.at(-1)).toBe(
    'a  1 Service without a writer, or with slices that follow no pods: fleet-endpoints cluster opt-in a lists it',
  );
  await table.update(metaKey('a'), { set: { optIn: 'off' } });
  printed.length = 0;
  await listOfClusters(hub, people)();
  expect(printed.at(-1)).toBe(
    'a  3 Services without a writer, or with slices that follow no pods: fleet-endpoints cluster opt-in a lists them',
  );
  printed.length = 0;
  await listOfClusters(hub, { ...people, format: 'json' })();
  expect(
    JSON.parse(printed.join('\n')).map((c: { servicesWithoutWriter: number }) => c.servicesWithoutWriter),
  ).toEqual([3, null]);
});

it('without a cluster the switches name those that are there', async () => {
  const { imports, exports } = await start();
  await expect(imports('shadow', { id: undefined })).rejects.toThrow(/which cluster\? .*a/);
  await expect(exports('all', { id: undefined })).rejects.toThrow(/which cluster\? .*a/);
});
