import { expect, it } from 'vitest';
import {
  clearUnverified,
  decodeUnverified,
  recordUnverified,
  type UnverifiedSession,
} from '#shared/clusters/relay/sessions.ts';
import { metaKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const unbound: UnverifiedSession = {
  state: 'unbound',
  session: 's2',
  uid: 'other',
  sinceMs: 5,
  rewoundAtMs: 4,
};
const outdated: UnverifiedSession = { state: 'outdated', session: 's1', readUpTo: { Pod: '140' } };

async function clusterOf(incarnation: number) {
  const table = memoryTable();
  await table.put({ ...metaKey('c'), inc: incarnation });
  const read = async () => {
    const item = await table.get(metaKey('c'));
    return item && decodeUnverified(item);
  };
  return { table, read };
}

it.each([unbound, outdated])(
  'a session that is $state reads as it was recorded, and is gone when it is verified',
  async (session) => {
    const { table, read } = await clusterOf(2);
    await recordUnverified(table, { id: 'c', incarnation: 2 }, session);
    expect(await read()).toEqual(session);
    expect(await clearUnverified(table, { id: 'c', incarnation: 2 }, session)).toBe(true);
    expect(await read()).toBeUndefined();
  },
);

it('an unbound session is verified before an outdated one, which is kept', async () => {
  const { table, read } = await clusterOf(2);
  await recordUnverified(table, { id: 'c', incarnation: 2 }, outdated);
  await recordUnverified(table, { id: 'c', incarnation: 2 }, unbound);
  expect(await read()).toEqual(unbound);
  await clearUnverified(table, { id: 'c', incarnation: 2 }, unbound);
  expect(await read()).toEqual(outdated);
});

it('a worker that has read a former incarnation neither records nor clears a session', async () => {
  const { table, read } = await clusterOf(3);
  await recordUnverified(table, { id: 'c', incarnation: 2 }, unbound);
  expect(await read()).toBeUndefined();
  await recordUnverified(table, { id: 'c', incarnation: 3 }, unbound);
  expect(await clearUnverified(table, { id: 'c', incarnation: 2 }, unbound)).toBe(false);
  expect(await read()).toEqual(unbound);
});
