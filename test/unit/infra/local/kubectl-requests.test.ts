/** What kubectl asks the embedded API server besides objects: discovery, tables, scales. */
import { afterEach, describe, expect, it } from 'vitest';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function server() {
  const cluster = await startEmbeddedCluster();
  ends.push(() => cluster.close());
  const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; body: Answer }> => {
    const response = await fetch(`${cluster.url}${path}`, init);
    return { status: response.status, body: (await response.json()) as Answer };
  };
  cluster.store.create('Deployment', 'default', {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: {} },
  });
  return { store: cluster.store, url: cluster.url, ask };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any kind.
type Answer = any;
const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } };

describe('discovery', () => {
  it('names each group, and the resources of each version with their short names', async () => {
    const { ask } = await server();
    expect((await ask('/api')).body.versions).toEqual(['v1']);
    const groups = (await ask('/apis')).body.groups.map((g: Answer) => g.preferredVersion.groupVersion);
    expect(groups.toSorted()).toEqual(['apps/v1', 'discovery.k8s.io/v1', 'multicluster.x-k8s.io/v1beta1']);
    const { resources } = (await ask('/api/v1')).body;
    expect(resources).toContainEqual(
      expect.objectContaining({ name: 'pods', kind: 'Pod', namespaced: true, shortNames: ['po'] }),
    );
    expect((await ask('/apis/apps/v1')).body.resources.map((r: Answer) => r.name)).toEqual([
      'deployments',
      'deployments/status',
      'deployments/scale',
      'statefulsets',
      'statefulsets/status',
      'statefulsets/scale',
    ]);
    expect((await ask('/apis/batch/v1')).status).toBe(404);
  });
});

describe('tables', () => {
  it('a list and an object are tables for a client that asks for one, and JSON for others', async () => {
    const { ask } = await server();
    const list = (await ask('/apis/apps/v1/deployments', table)).body;
    expect(list.kind).toBe('Table');
    expect(list.columnDefinitions.map((c: Answer) => c.name)).toEqual([
      'Name',
      'Ready',
      'Up-to-date',
      'Available',
      'Age',
    ]);
    expect(list.rows[0].cells.slice(0, 4)).toEqual(['web', '0/2', 0, 0]);
    expect(list.rows[0].object.metadata.namespace).toBe('default');
    expect((await ask('/api/v1/namespaces/default', table)).body.rows[0].cells.slice(0, 2)).toEqual([
      'default',
      'Active',
    ]);
    expect((await ask('/apis/apps/v1/deployments')).body.kind).toBe('DeploymentList');
  });

  it('the events of a watch are tables with one row', async () => {
    const { url } = await server();
    const response = await fetch(`${url}/apis/apps/v1/deployments?watch=1`, table);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    await reader?.cancel();
    const event = JSON.parse(
      Buffer.from(value ?? [])
        .toString()
        .split('\n')[0] ?? '',
    );
    expect(event).toMatchObject({ type: 'ADDED', object: { kind: 'Table' } });
    expect(event.object.rows).toHaveLength(1);
  });
});

describe('scale', () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/web/scale';
  const patch = (body: object): RequestInit => ({
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify(body),
  });

  it('reads and writes the replicas alone', async () => {
    const { ask, store } = await server();
    expect((await ask(path)).body).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 2 },
      status: { selector: 'app=web' },
    });
    expect((await ask(path, patch({ spec: { replicas: 5 } }))).body.spec).toEqual({ replicas: 5 });
    expect(store.get('Deployment', 'default', 'web').spec).toMatchObject({ replicas: 5, template: {} });
    const { body } = await ask(path);
    const put = { method: 'PUT', body: JSON.stringify({ ...body, spec: { replicas: 0 } }) };
    expect((await ask(path, put)).body.spec).toEqual({ replicas: 0 });
  });

  it('refuses a number that is none, and the scale of a kind without one', async () => {
    const { ask } = await server();
    const refused = await ask(path, patch({ spec: { replicas: -1 } }));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'spec.replicas: Invalid value: -1: must be a whole number from 0 on',
    ]);
    expect((await ask('/api/v1/namespaces/default/pods/p/scale')).status).toBe(404);
  });
});

it('a strategic patch finds ports by their numbers, of a Service and of a container', async () => {
  const { store } = await server();
  store.create('Service', 'default', {
    metadata: { name: 'web' },
    spec: {
      ports: [
        { name: 'http', port: 80 },
        { name: 'grpc', port: 81 },
      ],
    },
  });
  const ports = [{ port: 80, targetPort: 'htpp' }];
  store.patch('Service', { namespace: 'default', name: 'web' }, { spec: { ports } }, { type: 'strategic' });
  expect(store.get('Service', 'default', 'web').spec?.ports?.map((p) => [p.name, p.targetPort])).toEqual([
    ['http', 'htpp'],
    ['grpc', 81],
  ]);
});
