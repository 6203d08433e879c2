import { expect, it } from 'vitest';
import { checkCredentials, dueForCredentials } from '#functions/sweep/check-credentials.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { credentialEndMs } from '#shared/clusters/api/credential-end.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';
import { former } from '#test/unit/shared/clusters/api/key-pairs.ts';
import { silent } from '../ingest/hub.ts';

const day = 86_400_000;
const start = Date.parse('2026-01-02T00:00:00Z');
const tokenUntil = (ms: number): string =>
  ['h', Buffer.from(JSON.stringify({ exp: ms / 1000 })).toString('base64url'), 's'].join('.');

async function hubOf(credentials: (id: string) => Partial<Connection>) {
  const clock = { now: start };
  const table = memoryTable();
  for (const id of ['a', 'b', 'c']) {
    await registerCluster(
      table,
      {
        id,
        mode: 'active',
        api: { url: `https://${id}.example`, auth: { type: 'secret', secretArn: `arn:${id}` } },
      },
      0,
    );
  }
  const api = { url: 'https://eks.example', auth: { type: 'eks', clusterName: 'eks' } } as const;
  await registerCluster(table, { id: 'eks', mode: 'shadow', api }, 0);
  const read: string[] = [];
  const put: [name: string, value: number, cluster: unknown][] = [];
  const warned: object[] = [];
  const deps = sweepDeps({
    table,
    queues: () => memoryClusterQueues(() => clock.now),
    cluster: async () => Promise.reject(new Error('not asked here')),
    credentials: async ({ id }) => {
      read.push(id);
      return credentials(id);
    },
    metrics: { put: (name, value, dimensions) => void put.push([name, value, dimensions?.cluster]) },
    log: { ...silent, warn: (text, fields) => void warned.push({ text, ...fields }) },
    now: () => clock.now,
  });
  return { clock, table, deps, read, put, warned };
}

it('the secret of a cluster in any mode is read once an hour', async () => {
  const { clock, deps, read } = await hubOf(() => ({}));
  for (let minute = 0; minute < 120; minute++, clock.now += 60_000) await sweep(deps).catch(() => {});
  expect(read.sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

it('the days of a token or a certificate are published if it ends, and the last week is logged', async () => {
  const tokens: { readonly [id: string]: Partial<Connection> } = {
    a: { token: tokenUntil(start + 6 * day) },
    b: { token: tokenUntil(start + 8 * day) },
    c: { token: 'opaque' },
  };
  const { table, deps, put, warned } = await hubOf((id) => tokens[id] ?? {});
  for (const id of ['a', 'b', 'c']) await checkCredentials(deps, (await readCluster(table, id))!);
  expect(put).toEqual([
    ['CredentialExpires', 6, 'a'],
    ['CredentialExpires', 8, 'b'],
  ]);
  expect(warned).toEqual([
    { text: 'credentials of the cluster end soon', cluster: 'a', end: '2026-01-08T00:00:00.000Z' },
  ]);
  const ends = await Promise.all(
    ['a', 'b', 'c'].map(async (id) => (await readCluster(table, id))?.readiness.credentialsEndMs),
  );
  expect(ends).toEqual([start + 6 * day, start + 8 * day, 0]);
  expect(credentialEndMs({ clientCertificate: former.clientCertificate })).toBe(
    Date.parse('2126-10-28T16:30:43Z'),
  );
});

it('a run due for no cluster reads none', async () => {
  const { table, deps } = await hubOf(() => ({}));
  const eks = await readCluster(table, 'eks');
  expect(dueForCredentials(deps, [eks!])).toEqual([]);
});
