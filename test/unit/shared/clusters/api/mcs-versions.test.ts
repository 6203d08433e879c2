import { describe, expect, it } from 'vitest';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import type { HttpResponse, HttpTransport } from '#shared/clusters/api/transport.ts';

const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports/web';

/** Serves these versions, and has no objects. */
function server(...versions: string[]) {
  const asked: string[] = [];
  const answer = (status: number, body: string): HttpResponse => ({
    status,
    headers: {},
    body: Buffer.from(body),
  });
  const transport: HttpTransport = {
    async request(method, at, { body } = {}) {
      const version = at.split('/')[3] ?? '';
      asked.push(
        `${method} ${version}${body?.includes('apiVersion') ? ` ${JSON.parse(body).apiVersion}` : ''}`,
      );
      return versions.includes(version)
        ? answer(404, '{"kind":"Status","code":404,"reason":"NotFound"}')
        : answer(404, '404 page not found\n');
    },
    async stream(_method, at) {
      asked.push(`stream ${at.split('/')[3]}`);
      return { status: 200, headers: {}, chunks: (async function* () {})(), destroy() {} };
    },
    close() {},
  };
  return { asked, versions, api: mcsVersions(transport) };
}

describe('the version of the Multi-Cluster Services API (MC-1)', () => {
  it('a cluster that serves v1beta1 is asked for nothing else, also where an object is not there', async () => {
    const { api, asked } = server('v1beta1', 'v1alpha1');
    for (const _ of [1, 2]) expect((await api.request('GET', path)).status).toBe(404);
    expect(asked).toEqual(['GET v1beta1', 'GET v1beta1']);
  });

  it('a cluster that only serves v1alpha1 gets requests and writes of that version', async () => {
    const { api, asked } = server('v1alpha1');
    await api.request('POST', path, {
      body: JSON.stringify({ apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceImport' }),
    });
    await api.request('PATCH', path, { body: '{"status":{}}' });
    await api.stream('GET', path);
    expect(asked).toEqual([
      'POST v1beta1 multicluster.x-k8s.io/v1beta1',
      'POST v1alpha1 multicluster.x-k8s.io/v1alpha1',
      'PATCH v1alpha1',
      'stream v1alpha1',
    ]);
  });

  it('a cluster whose CRDs become newer is found by its next answer', async () => {
    const { api, asked, versions } = server('v1alpha1');
    await api.request('GET', path);
    versions.splice(0, 1, 'v1beta1');
    asked.length = 0;
    for (const _ of [1, 2]) await api.request('GET', path);
    expect(asked).toEqual(['GET v1alpha1', 'GET v1beta1', 'GET v1beta1']);
  });

  it('a cluster without the API reports this itself', async () => {
    const { api } = server();
    expect((await api.request('GET', path)).body.toString()).toContain('page not found');
  });

  it('other kinds are asked for as they are', async () => {
    const { api, asked } = server();
    await api.request('GET', '/apis/discovery.k8s.io/v1/endpointslices');
    expect(asked).toEqual(['GET v1']);
  });
});
