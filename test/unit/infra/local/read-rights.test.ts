import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseMissingRights } from '#infra/local/clusters/read-rights.ts';
import { FaultyApi, refuse } from '#test/support/network/faulty-api.ts';

let api: FaultyApi;
beforeEach(async () => {
  api = await new FaultyApi().start();
});
afterEach(() => api.close());

it.each([
  [
    'get namespaces',
    403,
    'the API server forbids us to get namespaces (403 Forbidden): grant it to this user and start again',
  ],
  [
    'look services',
    401,
    'the API server does not accept these credentials (401 Unauthorized, to list services)',
  ],
  [
    'watch nodes',
    403,
    'the API server forbids us to watch nodes (403 Forbidden): grant it to this user and start again',
  ],
])('a user without the right to %s is refused with the missing right', async (what, code, text) => {
  api.next(what, refuse(code, 'Forbidden'), 2);
  await expect(refuseMissingRights({ a: { server: api.url } })).rejects.toThrow(`cluster a: ${text}`);
});

it('a user with every right passes, and the relay of an unreachable cluster waits for it', async () => {
  await refuseMissingRights({ a: { server: api.url }, b: { server: 'http://127.0.0.1:9' } });
  expect(api.requests).toHaveLength(11);
  await expect.poll(() => [...api.watches.values()].every((open) => open.size === 0)).toBe(true);
});
