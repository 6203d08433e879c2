/** Every door accepts or refuses random input, and the fuzzer reports a door that fails. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { doors } from './doors.ts';
import { fuzzDoor } from './fuzz-door.ts';

/**
 * About half a second of one core for each door. `.ci/run` goes on with other seeds; `npm run fuzz` runs as
 * many as you like.
 */
it.each(doors.map((door) => [door.name, door] as const))(
  'the door %s accepts or refuses any input',
  async (name, door) => {
    expect(await fuzzDoor(door, { seed: 1 }), `npm run fuzz -- --door ${name} --seed 1`).toBeUndefined();
  },
);

it('a door that throws is reported with the smallest value, and a path that repeats it alone', async () => {
  const seen: number[] = [];
  const door = {
    name: 'wrong',
    cases: 100,
    values: fc.nat(1_000),
    check: (value: unknown) => {
      seen.push(value as number);
      if ((value as number) >= 100) throw new Error('too large');
    },
  };
  const failure = await fuzzDoor(door, { seed: 1 });
  expect(failure).toMatchObject({ seed: 1, value: '100', error: expect.stringContaining('too large') });
  seen.length = 0;
  expect(await fuzzDoor(door, { seed: 1, path: failure?.path ?? '' })).toMatchObject({ value: '100' });
  expect(seen[0]).toBe(100);
});

it('a door that changes a prototype is reported', async () => {
  const check = (): void =>
    void Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  const failure = await fuzzDoor({ name: 'wrong', cases: 1, values: fc.constant(0), check }, { seed: 1 });
  Reflect.deleteProperty(Object.prototype, 'polluted');
  expect(failure?.error).toContain('a prototype has another set of properties than before');
});
