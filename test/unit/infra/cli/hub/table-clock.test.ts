import { expect, it } from 'vitest';
import { tableClock } from '#infra/cli/hub/table-clock.ts';

type Handler = (args: object) => Promise<{ readonly response: unknown; readonly output: object }>;

/** A client whose table answers with this date. */
function client(date: () => string | undefined) {
  let call: Handler = async () => ({ response: { headers: { date: date() } }, output: {} });
  const middlewareStack = { add: (middleware: (next: Handler) => Handler) => (call = middleware(call)) };
  return { middlewareStack: middlewareStack as never, send: () => call({}) };
}

it.each([-7, 0, 12])(
  'a machine that is %i minutes off switches modes by the hub’s clock',
  async (minutes) => {
    const hub = Date.parse('2026-01-02T03:04:05Z');
    const machine = hub + minutes * 60_000;
    const table = client(() => new Date(hub).toUTCString());
    const now = tableClock(table, () => machine);
    expect(now()).toBe(machine);
    await table.send();
    expect(now() - hub).toBeGreaterThanOrEqual(0);
    expect(now() - hub).toBeLessThanOrEqual(1_000);
  },
);

it('an answer without a date changes nothing', async () => {
  const table = client(() => undefined);
  const now = tableClock(table, () => 5);
  await table.send();
  expect(now()).toBe(5);
});

it('two answers of one second do not turn the clock back', async () => {
  const second = Date.parse('2026-01-02T03:04:05Z');
  let machine = second + 100;
  const table = client(() => new Date(second).toUTCString());
  const now = tableClock(table, () => machine);
  await table.send();
  machine += 300;
  const before = now();
  machine += 100;
  await table.send();
  expect(now()).toBeGreaterThanOrEqual(before);
});
