import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClusterApiError, failureOf } from '#shared/clusters/api/errors.ts';
import { type ClusterApiOptions, httpsClusterApi } from '#shared/clusters/api/https.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = readonly [status: number, body: object | string, headers?: http.OutgoingHttpHeaders];

/** A server that gives these answers one after another, and what it was asked. */
async function scripted(
  ...[first, ...rest]: (Answer | Pick<ClusterApiOptions, 'maxBytes' | 'maxListBytes' | 'onRequest'>)[]
) {
  const [options, answers] =
    first && !Array.isArray(first) ? [first, rest as Answer[]] : [{}, [first, ...rest] as Answer[]];
  const asked: string[] = [];
  const bodies: string[] = [];
  const server = http.createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    let body = '';
    for await (const part of request) body += part;
    bodies.push(body);
    const [status, answer, headers = {}] = answers.shift() ?? [500, 'nothing left'];
    response.writeHead(status, headers).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const api = httpsClusterApi(
    { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    { fieldManager: 'me', ...options },
  );
  ends.push(api.close, () => server.close());
  return { api, asked, bodies };
}

const page = (names: string[], token = '') => ({
  metadata: { resourceVersion: '7', ...(token && { continue: token }) },
  items: names.map((name) => ({ metadata: { name } })),
});
const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
const missing = { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' };
const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 's', namespace: 'n' },
  addressType: 'IPv4',
  endpoints: [],
};

describe('cluster API over HTTP', () => {
  it('lists page after page, 500 objects at a time', async () => {
    const { api, asked } = await scripted([200, page(['a'], 'next')], [200, page(['b'])]);
    const list = await api.list('Service', 'n', { labels: { a: 'b', c: 'd' } });
    expect(list.items.map((s) => [s.kind, s.metadata.name])).toEqual([
      ['Service', 'a'],
      ['Service', 'b'],
    ]);
    const first = 'GET /api/v1/namespaces/n/services?labelSelector=a%3Db%2Cc%3Dd&limit=500';
    expect(asked).toEqual([first, `${first}&continue=next`]);
  });

  it('times each request, whether it succeeds or not', async () => {
    const times: number[] = [];
    const { api } = await scripted(
      { onRequest: (ms) => void times.push(ms) },
      [200, page(['a'], 'next')],
      [200, page(['b'])],
      [500, 'broken'],
    );
    await api.list('Service', 'n');
    expect(times).toHaveLength(2);
    const brief = api.within(() => 1_000);
    await expect(brief.get('Service', 'n', 'a')).rejects.toMatchObject({ status: 500 });
    expect(times).toHaveLength(3);
    for (const ms of times) expect(ms).toBeGreaterThan(0);
  });

  it('each call, and each page of a list, has the timeout at its begin, and rejects with an error that the timeout throws', async () => {
    const { api, asked } = await scripted([200, page(['a'], 'next')], [200, page(['b'])], [200, page([])]);
    let left = 5_000;
    const asks: number[] = [];
    const bounded = api.within(() => {
      if (left < 1_000) throw new Error('too little time left');
      asks.push(left);
      left -= 2_000;
      return left;
    });
    await bounded.list('Service', 'n');
    expect(asks).toEqual([5_000, 3_000]);
    left = 0;
    await expect(bounded.identity()).rejects.toThrow('too little time left');
    expect(asked).toHaveLength(2);
    await api.list('Service', 'n');
  });

  it('breaks off an answer that no object of a cluster could have', async () => {
    const { api } = await scripted({ maxBytes: 1_000 }, [200, { metadata: { uid: 'u'.repeat(2_000) } }]);
    await expect(api.identity()).rejects.toMatchObject({ status: 0, reason: 'TooLarge' });
  });

  it('gives a list without end up', async () => {
    const { api } = await scripted(
      { maxListBytes: 200 },
      ...Array.from({ length: 9 }, (_, i) => [200, page(['pod'], `next-${i}`)] as const),
    );
    await expect(api.list('Pod', 'n')).rejects.toThrow('a list of Pod has more than 200 bytes');
  });

  it('a list whose page names itself as the next one is given up', async () => {
    const { api, asked } = await scripted(
      ...Array.from({ length: 9 }, () => [200, page([], 'next')] as const),
    );
    await expect(api.list('Pod', 'n')).rejects.toMatchObject({
      status: 0,
      message: 'a page of a list names itself as the next page',
    });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['null', 'is not a JSON object'],
    ['[]', 'is not a JSON object'],
    ['{"ok":true}', 'is an object without metadata'],
    ['{"metadata":{},"items":{}}', 'is a list with items that are no objects'],
    ['{"metadata":{},"items":[null]}', 'is a list with items that are no objects'],
    ['{"metadata":{"continue":7},"items":[]}', 'is a list of other metadata'],
  ])('%s instead of a list is a fault of the cluster', async (body, why) => {
    const { api } = await scripted([200, body]);
    const error: unknown = await api.list('Pod', 'n').catch((e: unknown) => e);
    expect(failureOf(error as ClusterApiError)).toBe('connection');
    expect(String(error)).toContain(`the API server's answer ${why}: ${JSON.stringify(body)}`);
  });

  it('an identity without a uid is a fault of the cluster', async () => {
    const { api } = await scripted([200, { metadata: { uid: 7 } }]);
    await expect(api.identity()).rejects.toMatchObject({
      status: 0,
      message: 'the kube-system namespace has no uid',
    });
  });

  it('fields of a Status that are of another type count as absent', async () => {
    const details = { causes: [null, { reason: 7, field: 'spec' }], retryAfterSeconds: '9' };
    const { api } = await scripted([422, { kind: 'Status', code: 'x', reason: {}, message: 7, details }]);
    await expect(api.get('Service', 'n', 's')).rejects.toMatchObject({
      status: 422,
      reason: undefined,
      causes: [],
      fields: ['spec'],
      retryAfterSeconds: undefined,
    });
  });

  it('the cluster API does not take over a message without end', async () => {
    const { api } = await scripted([422, { kind: 'Status', code: 422, message: 'x'.repeat(100_000) }]);
    const error = await api.identity().catch((e: Error) => e);
    expect((error as Error).message).toHaveLength(8 * 1024);
  });

  it('a list begins again when a continue token expires, and gives up when that repeats', async () => {
    const { api, asked } = await scripted([200, page(['old'], 't')], [410, expired], [200, page(['new'])]);
    expect((await api.list('Service', '')).items.map((s) => s.metadata.name)).toEqual(['new']);
    expect(asked[2]).toBe('GET /api/v1/services?limit=500');
    const never = await scripted([410, expired], [410, expired], [410, expired]);
    await expect(never.api.list('Service', '')).rejects.toMatchObject({ status: 410, reason: 'Expired' });
  });

  it('the cluster API asks for fewer objects after a page that is too large for a worker, and for more again when they are small', async () => {
    const large = ' '.repeat(33 << 20);
    const { api, asked } = await scripted(
      [200, page(['a'], 'next')],
      [200, large],
      [200, large],
      [200, page(['b'], 'then')],
      [200, page(['c'])],
    );
    expect((await api.list('Pod', '')).items.map((p) => p.metadata.name)).toEqual(['a', 'b', 'c']);
    expect(asked.map((path) => path.split('?')[1])).toEqual([
      'limit=500',
      'limit=500&continue=next',
      'limit=125&continue=next',
      'limit=31&continue=next',
      'limit=62&continue=then',
    ]);
  });

  it('one object that is too large is an error, and no page for ever', async () => {
    const { api, asked } = await scripted(
      ...Array.from({ length: 9 }, () => [200, ' '.repeat(33 << 20)] as const),
    );
    await expect(api.list('Pod', '')).rejects.toMatchObject({ reason: 'TooLarge' });
    expect(asked.at(-1)).toBe('GET /api/v1/pods?limit=1');
    expect(asked).toHaveLength(5);
  });

  it('a list requests only one page if it must', async () => {
    const { api, asked } = await scripted([200, page(['a', 'b'], 'more')]);
    expect((await api.list('EndpointSlice', 'n', { atMost: 2 })).items).toHaveLength(2);
    expect(asked).toEqual(['GET /apis/discovery.k8s.io/v1/namespaces/n/endpointslices?limit=2']);
  });

  it('reads reason, causes, message and patience out of a Status', async () => {
    const status = {
      kind: 'Status',
      message: 'endpointslices.discovery.k8s.io "s" is forbidden: no',
      reason: 'Forbidden',
      code: 403,
      details: { causes: [{ reason: 'NamespaceTerminating' }], retryAfterSeconds: 4 },
    };
    const { api } = await scripted([403, status], [429, 'slow down', { 'retry-after': '9' }]);
    await expect(api.create('EndpointSlice', slice)).rejects.toMatchObject({
      status: 403,
      reason: 'Forbidden',
      causes: ['NamespaceTerminating'],
      message: status.message,
      retryAfterSeconds: 4,
    });
    await expect(api.create('EndpointSlice', slice)).rejects.toMatchObject({
      status: 429,
      message: 'slow down',
      retryAfterSeconds: 9,
    });
  });

  it('a body that is not JSON, such as the page of a proxy, is a fault of the cluster', async () => {
    const { api } = await scripted([200, '<html>'], [200, '<html>'], [502, ''], [404, '<html>']);
    for (const call of [api.get('Pod', 'n', 'p'), api.list('Pod', 'n')])
      await expect(call).rejects.toMatchObject({ name: 'ClusterApiError', status: 0 });
    await expect(api.get('Pod', 'n', 'p')).rejects.toMatchObject({
      status: 502,
      message: 'the server answered with status 502',
    });
    await expect(api.get('Pod', 'n', 'p')).rejects.toMatchObject({ status: 404, message: '<html>' });
  });

  it('names the field manager on every write, and sends kind, patch type and preconditions', async () => {
    const { api, asked, bodies } = await scripted(
      [201, slice],
      [200, slice],
      [200, slice],
      [200, {}],
      [404, missing],
    );
    const { kind: _, ...kindless } = slice;
    await api.create('EndpointSlice', kindless);
    await api.replace('EndpointSlice', slice);
    await api.patch('EndpointSlice', 'n', 's', { a: 1 });
    expect(await api.delete('EndpointSlice', 'n', 's', { uid: 'u', resourceVersion: '3' })).toBe(true);
    expect(await api.delete('EndpointSlice', 'n', 's')).toBe(false);
    const path = '/apis/discovery.k8s.io/v1/namespaces/n/endpointslices';
    expect(asked).toEqual([
      `POST ${path}?fieldManager=me`,
      `PUT ${path}/s?fieldManager=me`,
      `PATCH ${path}/s?fieldManager=me`,
      `DELETE ${path}/s`,
      `DELETE ${path}/s`,
    ]);
    expect(JSON.parse(bodies[0] as string)).toEqual(slice);
    expect(JSON.parse(bodies[3] as string)).toMatchObject({
      preconditions: { uid: 'u', resourceVersion: '3' },
    });
  });
});
