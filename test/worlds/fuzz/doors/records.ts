/**
 * Items of the table with a damaged attribute: cut, of another type, of another item, or gone. Other clusters
 * are served as before.
 */
import fc from 'fast-check';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { serviceRows } from '#infra/cli/ask/lists/service-rows.ts';
import { clustersetAnswer } from '#infra/clusterset/console/clusterset-answer.ts';
import type { Item, Value } from '#shared/store/table.ts';
import { type Door, ensure } from '../door.ts';
import { addressesIn, ensureServed, goOn, startFleet } from '../fleet.ts';
import { hostileNumber, hostileText } from '../hostile.ts';

interface Damage {
  /** The places of the item among those of cluster `a` and of the clusterset, and of its attribute. */
  readonly item: number;
  readonly attribute: number;
  readonly how: 'drop' | 'cut' | 'replace' | 'swap';
  readonly by: Value;
}

const value: fc.Arbitrary<Value> = fc.oneof(
  hostileText.map((text) => text.toWellFormed()),
  hostileNumber.filter((n) => Math.abs(n) < 1e125),
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom<Value>('[]', '{}', 'null', '[[]]', '{"a":1}', new Set([1, 2])),
);

const isOfA = ({ pk }: Item): boolean => /^(a#|SET#|(CLUSTER|ACCESS)#a$)/.test(pk);

function damaged(items: readonly Item[], { item: n, attribute, how, by }: Damage): readonly Item[] {
  const candidates = items.filter(isOfA);
  const item = candidates[n % candidates.length] as Item;
  const names = Object.keys(item).filter((name) => name !== 'pk' && name !== 'sk');
  const name = names[attribute % names.length];
  if (name === undefined) return items;
  const other = candidates.filter((c) => c !== item && c[name] !== undefined)[attribute % 7]?.[name];
  const { [name]: before, ...rest } = item as { readonly [name: string]: Value };
  const after =
    how === 'drop'
      ? undefined
      : how === 'replace'
        ? by
        : how === 'cut'
          ? half(before as Value)
          : (other ?? by);
  const next = (after === undefined ? rest : { ...rest, [name]: after }) as Item;
  return items.map((i) => (i === item ? next : i));
}

const half = (whole: Value): Value =>
  typeof whole === 'string' || whole instanceof Uint8Array
    ? whole.slice(0, Math.floor(whole.length / 2))
    : typeof whole === 'number'
      ? -whole
      : new Set([0]);

/** Checks that the answer of a command or of the console is a value, or an error with a message. */
async function ensureAnswer(answer: Promise<unknown>): Promise<void> {
  try {
    JSON.stringify(await answer);
  } catch (error) {
    ensure(
      error instanceof Error && /\w{2}/.test(error.message),
      `an answer is refused with ${String(error)}`,
    );
  }
}

const podAddresses = new Set(['10.1.0.1', '10.1.0.2', '10.1.0.99']);

export const records: Door<readonly Damage[]> = {
  name: 'records',
  cases: 15,
  values: fc.array(
    fc.record({
      item: fc.nat(200),
      attribute: fc.nat(40),
      how: fc.constantFrom('drop', 'cut', 'replace', 'swap'),
      by: value,
    }),
    {
      minLength: 1,
      maxLength: 2,
    },
  ),
  async check(damages) {
    const world = await startFleet();
    world.table.restore(damages.reduce(damaged, world.table.dump()));
    for (const cluster of ['a', 'b', 'c']) {
      const key = { cluster, namespace: 'shop', name: 'web' };
      await ensureAnswer(explain(world.table, key, world.nowMs, undefined));
      await ensureAnswer(readRuns(world.table, key, { sinceMs: 0, nowMs: world.nowMs }));
      await ensureAnswer(serviceRows(world.table, cluster, world.nowMs));
    }
    await ensureAnswer(clustersetAnswer(world.table, world.nowMs));
    await goOn(world);
    ensureServed(world, 'c');
    const invented = addressesIn(world, 'a').filter((ip) => !podAddresses.has(ip));
    ensure(invented.length === 0, `cluster a serves ${invented.join(', ')}, which no pod has`);
  },
};
