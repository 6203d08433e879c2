import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { httpLeaseStore, type LeaseContent, type LeaseStore } from '#functions/relay/election/lease-store.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';

interface Stored {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: { readonly [name: string]: string };
    readonly [field: string]: unknown;
  };
  readonly spec: { readonly [field: string]: unknown };
}

let server: Server;
let stored: Stored | undefined;
let versions: number;
let asked: string[];
let store: LeaseStore;
let nowMs: number;
const { signal } = new AbortController();

function answerOf(method: string | undefined, body: string): readonly [code: number, body: object] {
  const refused = (code: number, reason: string) =>
    [code, { kind: 'Status', code, reason, message: reason }] as const;
  if (method !== 'POST' && !stored) return refused(404, 'NotFound');
  if (method === 'GET') return [200, stored as Stored];
  if (method === 'POST' && stored) return refused(409, 'AlreadyExists');
  const given = JSON.parse(body) as Stored;
  if (method === 'PUT' && given.metadata.resourceVersion !== stored?.metadata.resourceVersion)
    return refused(409, 'Conflict');
  stored = { ...given, metadata: { ...given.metadata, resourceVersion: String(++versions) } };
  return [method === 'POST' ? 201 : 200, stored];
}

/** Plays the API server for one Lease. */
beforeEach(async () => {
  nowMs = Date.parse('2026-01-02T03:04:05.678Z');
  stored = undefined;
  versions = 0;
  asked = [];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push(`${request.method} ${request.url}`);
      const [code, body] = answerOf(request.method, Buffer.concat(parts).toString());
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const transport = httpTransport({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  store = httpLeaseStore(transport, { namespace: 'relays', name: 'relay' }, () => nowMs, 1_000);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const content = (holder: string): LeaseContent => ({ holder, durationMs: 6_000, transitions: 0 });

it('a missing Lease is created, and read as it was written', async () => {
  expect(await store.read(signal)).toBeUndefined();
  expect(await store.write(content('a'), undefined, true, signal)).toEqual({
    ...content('a'),
    resourceVersion: '1',
  });
  expect(await store.read(signal)).toEqual({ ...content('a'), resourceVersion: '1' });
  const path = '/apis/coordination.k8s.io/v1/namespaces/relays/leases';
  expect(asked).toEqual([`GET ${path}/relay`, `POST ${path}`, `GET ${path}/relay`]);
  expect(stored?.spec).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 6,
    leaseTransitions: 0,
    acquireTime: '2026-01-02T03:04:05.678000Z',
    renewTime: '2026-01-02T03:04:05.678000Z',
  });
});

it('a renewal keeps the fields of other writers, and the time of acquisition', async () => {
  await store.write(content('a'), undefined, true, signal);
  stored = {
    ...(stored as Stored),
    metadata: {
      ...(stored as Stored).metadata,
      labels: { team: 'x' },
      annotations: { note: 'kept', ...stored?.metadata.annotations },
    },
    spec: { ...stored?.spec, acquireTime: '2025-01-01T00:00:00.000000Z', strategy: 'OldestEmulationVersion' },
  };
  await store.write(content('a'), await store.read(signal), false, signal);
  expect(stored.metadata).toMatchObject({ labels: { team: 'x' }, annotations: { note: 'kept' } });
  expect(stored.spec).toMatchObject({
    acquireTime: '2025-01-01T00:00:00.000000Z',
    strategy: 'OldestEmulationVersion',
  });
});

it('a write over a Lease that has changed meanwhile is refused', async () => {
  await store.write(content('a'), undefined, true, signal);
  expect(await store.write(content('b'), undefined, true, signal)).toBeUndefined();
  const seen = await store.read(signal);
  await store.write(content('a'), seen, false, signal);
  expect(await store.write(content('b'), seen, true, signal)).toBeUndefined();
  stored = undefined;
  expect(await store.write(content('b'), seen, true, signal)).toBeUndefined();
});

it('a Lease that was given back has no holder, because some API servers refuse empty text', async () => {
  await store.write(content('a'), undefined, true, signal);
  await store.write(content(''), await store.read(signal), false, signal);
  expect(stored?.spec).not.toHaveProperty('holderIdentity');
  expect(await store.read(signal)).toMatchObject({ holder: '' });
});
