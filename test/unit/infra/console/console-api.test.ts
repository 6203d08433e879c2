import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import type { SeriesAnswer } from '#infra/console/api-types.ts';
import { apiRoutes } from '#infra/console/console-api.ts';
import { localMetrics } from '#infra/console/local-metrics.ts';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { pageRoutes } from '#infra/console/page.ts';
import { type Console, startConsole } from '#infra/console/server.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { switchZones, type ZoneAway } from '#shared/clusters/zones-away.ts';
import { metricsNamespace } from '#shared/contract/metrics.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { addGeneration } from '#shared/workqueue/item-store.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { node, pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

const now = Date.parse('2026-03-01T10:00:00Z');
const store = metricsStore();
let table: Table | undefined;
let server: Console;

/** Cluster `a` with service ns/foo, a ready pod of it and one of another selector. */
async function snapshot(): Promise<Table> {
  const made = memoryTable();
  await registerCluster(made, { id: 'a', mode: 'active' }, Date.now());
  await made.update(metaKey('a'), { set: { annotated: '1 2' } });
  await indexNamespace({ table: made, cluster: 'a' }, 'ns');
  const record = (name: string, projection: string, namespace = 'ns') => ({
    namespace,
    name,
    projection,
    version: versionOf(1, '5'),
    unnotifiedLabels: undefined,
    deletedAtMs: now,
  });
  await putObject(
    { table: made, cluster: 'a' },
    'Service',
    record('foo', encodeProjection('Service', service())),
    undefined,
  );
  await putObject(
    { table: made, cluster: 'a' },
    'Pod',
    record('pod0001', encodeProjection('Pod', pod(1))),
    undefined,
  );
  const other = { ...pod(2), metadata: { ...pod(2).metadata, labels: { app: 'other' } } };
  await putObject(
    { table: made, cluster: 'a' },
    'Pod',
    record('pod0002', encodeProjection('Pod', other)),
    undefined,
  );
  await putObject(
    { table: made, cluster: 'a' },
    'Node',
    record('node-1', encodeProjection('Node', node('node-1', 'zone-a')), ''),
    undefined,
  );
  await addGeneration(made, { cluster: 'a', namespace: 'ns', kind: 'service', name: 'foo' }, now - 4_000);
  return made;
}

beforeAll(async () => {
  const metrics = emfMetrics(
    (line) => void store.add(JSON.parse(line)),
    () => now - 1_000,
    metricsNamespace,
  );
  for (const ms of [100, 300]) metrics.put('SyncLatency', ms, { cluster: 'a' });
  metrics.put('SyncsFailed', 2, { cluster: 'a' });
  metrics.flush();
  server = await startConsole(0, {
    ...pageRoutes(),
    ...apiRoutes({
      metrics: localMetrics(store, () => now),
      table: () => table,
      now: () => now,
      refreshSeconds: 1,
    }),
  });
  table = await snapshot();
});
afterAll(() => server.close());

const get = async (path: string) => {
  const answer = await fetch(server.url + path);
  return { status: answer.status, body: await answer.json() };
};

const unlisted =
  'nothing runs until the first lists of Service, Pod, Node, Endpoints, EndpointSlice are complete';

describe('the console’s API', () => {
  it('the API returns dashboards and clusters', async () => {
    const { body } = await get('/api/dashboards');
    expect(body).toMatchObject({ dashboards: [{ id: 'fleet' }, { id: 'cluster' }], clusters: ['a'] });
  });

  it('the API returns each cluster’s state in a row', async () => {
    const { body } = await get('/api/fleet');
    expect(body).toMatchObject([
      {
        ...{ id: 'a', labels: {}, mode: 'active', switches: 'active', kubernetesVersion: null },
        ...{ heartbeatAge: null, overdueSeconds: 4, p50: 100, p99: 300, errors: 2, circuitOpen: null },
        ...{ differences: null, servicesWithoutWriter: 3, notKnown: unlisted, zonesAway: [], unreachable: 0 },
      },
    ]);
  });

  it('the API returns the zones that traffic is away from', async () => {
    const sinceMs = Date.now();
    const away = { zone: 'z', sinceMs, untilMs: Date.parse('2126-03-01T10:00:00Z'), by: 'me' };
    const send = async (zones: readonly ZoneAway[]) =>
      switchZones(table as Table, (await readCluster(table as Table, 'a')) as ClusterRecord, zones, sinceMs);
    await send([away]);
    expect((await get('/api/fleet')).body).toMatchObject([
      { zonesAway: [{ zone: 'z', until: '2126-03-01T10:00:00Z', by: 'me' }] },
    ]);
    await send([]);
  });

  it('the API returns each cluster’s switch for services that opt in, unless it is off', async () => {
    await switchOptIn(table as Table, 'a', 'shadow', Date.now());
    expect((await get('/api/fleet')).body).toMatchObject([{ id: 'a', switches: 'active, opt-in shadow' }]);
    await switchOptIn(table as Table, 'a', 'off', Date.now());
  });

  it('the API returns services and explains them', async () => {
    const why = expect.stringContaining('the hub writes in place of the built-in controllers');
    expect((await get('/api/services?cluster=a')).body).toEqual([
      {
        namespace: 'ns',
        service: 'foo',
        type: 'ClusterIP',
        writer: 'fleet-endpoints',
        why,
        ...{ state: 'Pending', reach: null, health: 'warning', selected: null, ready: null, cause: '' },
        message: `Whether it can be reached is not known here; ${unlisted}.`,
        writers: { endpoints: 'hub', slices: 'hub' },
        differs: false,
      },
    ]);
    const explanation = (await get('/api/explain?cluster=a&namespace=ns&service=foo')).body as Explanation;
    expect(explanation.pods.map((p) => [p.pod, p.endpoints.place, p.endpoints.pending])).toEqual([
      ['pod0001', 'addresses', 'as saved it is not listed yet'],
    ]);
    expect(explanation.summary).toBe(`Whether it can be reached is not known here; ${unlisted}.`);
    expect(explanationLines(explanation, { isWide: true }).join('\n')).toContain(
      'Pod pod0001\n  Endpoints    10.1.0.2, ready: its Ready condition is True [as saved it is not listed yet]\n',
    );
    const asked = (await get('/api/explain?cluster=a&namespace=ns&service=foo&pod=pod0002'))
      .body as Explanation;
    expect(asked.pods.map((p) => [p.pod, p.endpoints.why])).toEqual([
      ['pod0002', 'selector app=a does not match label app=other'],
    ]);
  });

  it('the API returns the series until a past moment', async () => {
    const until = now - 60_000;
    const { from, period, widgets } = (
      await get(`/api/series?dashboard=cluster&cluster=a&minutes=5&until=${until}`)
    ).body as SeriesAnswer;
    const count = widgets[0]?.[0]?.values.length as number;
    expect([from + (count - 1) * period, count]).toEqual([until / 1000, 61]);
    expect((await get('/api/search?text=foo')).body).toEqual({
      found: [{ cluster: 'a', namespace: 'ns', service: 'foo' }],
      more: 0,
    });
  });

  it.each([
    ['/api/series?dashboard=x', 'no dashboard x: there are fleet, cluster'],
    ['/api/series?dashboard=fleet&minutes=7', 'minutes=7: 5, 15 or 30'],
    ['/api/series?dashboard=fleet&until=soon', 'until=soon: ms since the epoch'],
    ['/api/services', 'cluster=… is missing'],
    ['/api/services?cluster=nope', 'no cluster nope: there is a'],
    [
      '/api/then?cluster=a&namespace=ns&service=foo&at=8640000000000001',
      'at=8640000000000001: ms since the epoch',
    ],
    ['/api/explain?cluster=b&namespace=ns&service=foo', 'no cluster b: there is a'],
    ['/api/explain?cluster=a&namespace=x&service=foo', 'no namespace x with services in a: there is ns'],
    ['/api/explain?cluster=a&namespace=ns&service=bar', 'no service bar in namespace ns of a: there is foo'],
    [
      '/api/explain?cluster=a&namespace=ns&service=foo&pod=x',
      'no pod x in namespace ns of a: ns/foo concerns pod0001',
    ],
  ])('the API returns an error for %s', async (path, error) => {
    expect(await get(path)).toEqual({ status: 404, body: { error } });
  });

  it('the API reports the start until the table is ready', async () => {
    const there = table;
    table = undefined;
    expect(await get('/api/fleet')).toEqual({ status: 503, body: { error: 'the table is not ready yet' } });
    table = there;
  });
});

describe('the console’s page', () => {
  it('the console’s page is served whole from this machine, under a policy that allows nothing else', async () => {
    const page = await fetch(server.url);
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(html).not.toMatch(/https?:\/\//);
    const linked = [...html.matchAll(/(?:src|href)="(\/[a-z.]+)"/g)].map((m) => m[1] as string);
    expect(linked).toContain('/app.js');
    for (const path of new Set(linked))
      expect((await fetch(server.url + path)).status, path).toBe(path === '/metrics' ? 404 : 200);
    expect(await (await fetch(`${server.url}/app.css`)).text()).toMatch(/prefers-color-scheme: ?dark/);
  });

  it('the console’s page is for this machine’s own names only', async () => {
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(server.url, { headers: { host: 'evil.example' } }, (answer) =>
        resolve(answer.resume().statusCode),
      ).end();
    });
    expect(status).toBe(421);
  });
});
