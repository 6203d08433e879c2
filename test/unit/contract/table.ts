/** The contract of every driver of the table. `make` returns a table of its own. */
import { beforeAll, describe, expect, it } from 'vitest';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { historyOf } from '#shared/store/keys.ts';
import { recordsSince, saveRecord } from '#shared/store/outputs/history-records.ts';
import { type Item, type Key, RangeTooLarge, type Table } from '#shared/store/table.ts';

export function tableContract(driver: string, make: () => Promise<Table>): void {
  describe(`table on ${driver}`, () => {
    let table: Table;
    let pk = '';
    let partitions = 0;
    beforeAll(async () => {
      table = await make();
    });
    /** A partition of this test's own. */
    const fresh = () => {
      pk = `p#${partitions++}`;
      return pk;
    };
    const sortKeys = (items: readonly Item[]) => items.map((i) => i.sk);

    it('returns every type of value as it was put', async () => {
      const item = {
        pk: fresh(),
        sk: 'a/é',
        text: 'häß 😀',
        empty: '',
        zero: 0,
        big: 1_764_000_000_123,
        negative: -1.5,
        bytes: Uint8Array.of(0, 255, 7),
        numbers: new Set([3, 1, 2]),
      };
      expect(await table.put(item)).toBe(true);
      expect(await table.get({ pk, sk: 'a/é' })).toEqual(item);
      expect(await table.get({ pk, sk: 'a' })).toBeUndefined();
    });

    it('a put replaces the whole item', async () => {
      await table.put({ pk: fresh(), sk: 's', a: 1, b: 2 });
      await table.put({ pk, sk: 's', a: 3 });
      expect(await table.get({ pk, sk: 's' })).toEqual({ pk, sk: 's', a: 3 });
    });

    it('the table keeps its items apart from objects that the caller changes later', async () => {
      const bytes = Uint8Array.of(1);
      const numbers = new Set([1]);
      await table.put({ pk: fresh(), sk: 's', bytes, numbers });
      bytes[0] = 9;
      numbers.add(9);
      expect(await table.get({ pk, sk: 's' })).toEqual({
        pk,
        sk: 's',
        bytes: Uint8Array.of(1),
        numbers: new Set([1]),
      });
    });

    it('an update sets bytes, and removes them', async () => {
      await table.put({ pk: fresh(), sk: 's', a: 1 });
      expect(await table.update({ pk, sk: 's' }, { set: { h: Uint8Array.of(1, 0, 255) } })).toEqual({
        pk,
        sk: 's',
        a: 1,
        h: Uint8Array.of(1, 0, 255),
      });
      expect(await table.update({ pk, sk: 's' }, { set: { a: 2 } })).toEqual({
        pk,
        sk: 's',
        a: 2,
        h: Uint8Array.of(1, 0, 255),
      });
      expect(await table.update({ pk, sk: 's' }, { remove: ['h'] })).toEqual({ pk, sk: 's', a: 2 });
    });

    it('gives the records of a history that ended at a time or later, newest first and in pages', async () => {
      const service = { cluster: fresh(), namespace: 'ns', name: 'svc' };
      const records = Array.from({ length: 205 }, (_, i) => ({
        id: 9_000 + i,
        previous: i === 0 ? undefined : 8_999 + i,
        text: `{"t":${i},"pods":"${'x'.repeat(i)}"}`,
      }));
      for (const record of records) await saveRecord(table, service, record, 7);
      const read = async (sinceMs: number) => {
        const found: object[] = [];
        for await (const record of recordsSince(table, service, sinceMs)) found.push(record);
        return found;
      };
      const newestFirst = records.toReversed();
      expect(await read(0)).toEqual(newestFirst);
      expect(await read(9_203)).toEqual(newestFirst.slice(0, 2));
      expect(await read(9_205)).toEqual([]);
      expect(
        await table.query(historyOf({ cluster: service.cluster, namespace: 'ns', name: 'svc' }), {
          atMost: 1,
        }),
      ).toMatchObject([{ id: 9_204, ttl: 10 + 7 * 86_400 }]);
    });

    it('takes attributes with reserved and odd names', async () => {
      await table.put({ pk: fresh(), sk: 's', name: 'n', 'a-b.c': 1 });
      const item = await table.update(
        { pk, sk: 's' },
        { set: { status: 'x' }, add: { count: 2 }, remove: ['a-b.c'] },
        { present: 'name' },
      );
      expect(item).toEqual({ pk, sk: 's', name: 'n', status: 'x', count: 2 });
    });

    it('refuses a put whose condition does not hold, and leaves the item as it was', async () => {
      await table.put({ pk: fresh(), sk: 's', ver: '005' });
      const older = { any: [{ absent: 'ver' }, { attribute: 'ver', is: '<', value: '005' }] } as const;
      expect(await table.put({ pk, sk: 's', ver: '005', late: 1 }, older)).toBe(false);
      expect(await table.get({ pk, sk: 's' })).toEqual({ pk, sk: 's', ver: '005' });
      expect(await table.put({ pk, sk: 'new', ver: '001' }, older)).toBe(true);
    });

    it.each([
      ['=', false, true, false],
      ['<', false, false, true],
      ['<=', false, true, true],
      ['>', true, false, false],
      ['>=', true, true, false],
    ] as const)('compares text and numbers with %s', async (is, less, same, more) => {
      await table.put({ pk: fresh(), sk: 's', n: 10, t: 'b' });
      const asked = async (attribute: string, value: number | string) =>
        (await table.update({ pk, sk: 's' }, { add: { asked: 1 } }, { attribute, is, value })) !== undefined;
      expect([await asked('n', 9), await asked('n', 10), await asked('n', 11)]).toEqual([less, same, more]);
      expect([await asked('t', 'a'), await asked('t', 'b'), await asked('t', 'ba')]).toEqual([
        less,
        same,
        more,
      ]);
    });

    it('a comparison with an absent attribute or another type is false', async () => {
      await table.put({ pk: fresh(), sk: 's', n: 10 });
      for (const attribute of ['n', 'none']) {
        for (const is of ['=', '<', '>', '<=', '>='] as const) {
          expect(await table.put({ pk, sk: 's' }, { attribute, is, value: '10' })).toBe(false);
          expect(await table.delete({ pk, sk: 'nobody' }, { attribute, is, value: 10 })).toBe(false);
        }
      }
    });

    it('compares two attributes of an item, and no absent one', async () => {
      await table.put({ pk: fresh(), sk: 's', low: 9, high: 10 });
      const isLeast = async (attribute: string, than: string): Promise<boolean> =>
        (await table.update({ pk, sk: 's' }, { set: { t: 'x' } }, { attribute, is: '>=', than })) !==
        undefined;
      expect(await isLeast('high', 'low')).toBe(true);
      expect(await isLeast('low', 'high')).toBe(false);
      expect(await isLeast('none', 'low')).toBe(false);
      expect(await isLeast('high', 'none')).toBe(false);
    });

    it('joins conditions with all and any, nested', async () => {
      await table.put({ pk: fresh(), sk: 's', a: 1, b: 'x' });
      const asked = async (a: number, b: string, c: string) =>
        (await table.update(
          { pk, sk: 's' },
          {},
          {
            all: [
              { attribute: 'a', is: '=', value: a },
              { any: [{ attribute: 'b', is: '=', value: b }, { all: [{ present: 'a' }, { absent: c }] }] },
            ],
          },
        )) !== undefined;
      expect(await asked(1, 'x', 'b')).toBe(true);
      expect(await asked(1, 'y', 'c')).toBe(true);
      expect(await asked(1, 'y', 'b')).toBe(false);
      expect(await asked(2, 'x', 'c')).toBe(false);
    });

    it('an update creates the item, adds to absent numbers and unites sets', async () => {
      const key = { pk: fresh(), sk: 's' };
      const change = { set: { t: 'x' }, add: { n: 2, parts: new Set([1]) } };
      expect(await table.update(key, change)).toEqual({ ...key, t: 'x', n: 2, parts: new Set([1]) });
      expect(
        await table.update(key, { add: { n: -5, parts: new Set([0, 1]) }, remove: ['t', 'none'] }),
      ).toEqual({
        ...key,
        n: -3,
        parts: new Set([0, 1]),
      });
      expect(await table.get(key)).toEqual({ ...key, n: -3, parts: new Set([0, 1]) });
    });

    it('sets an attribute only if it is absent where that is asked for', async () => {
      const key = { pk: fresh(), sk: 's' };
      const change = (dirtyAt: number) => ({
        set: { live: dirtyAt },
        setIfAbsent: { dirtyAt, mode: 'shadow' },
        add: { gen: 1 },
      });
      expect(await table.update(key, change(5))).toEqual({
        ...key,
        live: 5,
        dirtyAt: 5,
        mode: 'shadow',
        gen: 1,
      });
      expect(await table.update(key, change(9))).toEqual({
        ...key,
        live: 9,
        dirtyAt: 5,
        mode: 'shadow',
        gen: 2,
      });
    });

    it('an update whose condition does not hold creates and changes nothing', async () => {
      const key = { pk: fresh(), sk: 's' };
      expect(await table.update(key, { add: { n: 1 } }, { present: 'pk' })).toBeUndefined();
      expect(await table.get(key)).toBeUndefined();
      await table.put({ ...key, n: 1 });
      expect(await table.update(key, { add: { n: 1 } }, { absent: 'n' })).toBeUndefined();
      expect(await table.get(key)).toEqual({ ...key, n: 1 });
    });

    it('a delete of a missing item succeeds, and a delete whose condition fails deletes nothing', async () => {
      const key = { pk: fresh(), sk: 's' };
      expect(await table.delete(key)).toBe(true);
      await table.put({ ...key, ver: '2' });
      expect(await table.delete(key, { attribute: 'ver', is: '=', value: '1' })).toBe(false);
      expect(await table.delete(key, { attribute: 'ver', is: '=', value: '2' })).toBe(true);
      expect(await table.get(key)).toBeUndefined();
    });

    it('refuses empty keys, empty sets, undefined values, changes of the key and empty conditions', async () => {
      const key = { pk: fresh(), sk: 's' };
      await expect(table.put({ pk, sk: '' })).rejects.toThrow();
      await expect(table.put({ ...key, none: new Set() })).rejects.toThrow();
      await expect(table.put({ ...key, none: undefined as unknown as string })).rejects.toThrow();
      await expect(table.put({ ...key, none: Number.NaN })).rejects.toThrow();
      await expect(table.update(key, { set: { sk: 't' } })).rejects.toThrow();
      await expect(table.update(key, { set: { a: 1 }, remove: ['a'] })).rejects.toThrow();
      await expect(table.put(key, { all: [] })).rejects.toThrow();
      await table.put({ ...key, text: 'x' });
      await expect(table.update(key, { add: { text: 1 } })).rejects.toThrow();
      await expect(table.put({ ...key, text: 'x'.repeat(400 * 1024) })).rejects.toThrow();
      expect(await table.get(key)).toEqual({ ...key, text: 'x' });
    });

    it('a query for keys alone returns the same items in the same order without their other attributes', async () => {
      const of = { pk: `${pk} keys` };
      for (const sk of ['a', 'b', 'c']) await table.put({ ...of, sk, text: 'long', n: 1 });
      expect(await table.query(of.pk, { only: [] })).toEqual([
        { ...of, sk: 'a' },
        { ...of, sk: 'b' },
        { ...of, sk: 'c' },
      ]);
      expect(await table.query(of.pk, { from: 'a', to: 'c', atMost: 1, only: [] })).toEqual([
        { ...of, sk: 'b' },
      ]);
    });

    it('a query for some attributes returns those that an item has, and its keys', async () => {
      const of = { pk: `${pk} some` };
      await table.put({ ...of, sk: 'a', text: 'long', at: 1, name: 'x' });
      await table.put({ ...of, sk: 'b', text: 'long' });
      expect(await table.query(of.pk, { only: ['at', 'name'] })).toEqual([
        { ...of, sk: 'a', at: 1, name: 'x' },
        { ...of, sk: 'b' },
      ]);
      expect(await table.query(of.pk, { from: 'a', to: 'c', only: ['at'] })).toEqual([{ ...of, sk: 'b' }]);
    });

    it('a query returns its partition in the order of the bytes, within (from, to]', async () => {
      fresh();
      // U+FF5E is below U+1F600, though not in UTF-16; "a-b/" is below "a/".
      const keys = ['A', 'a', 'a!', 'a-b/', 'a/', 'a/b', 'b', 'é', '～', '😀'];
      for (const sk of [...keys].reverse()) await table.put({ pk, sk });
      await table.put({ pk: `${pk}x`, sk: 'a' });
      expect(sortKeys(await table.query(pk))).toEqual(keys);
      expect(sortKeys(await table.query(pk, { from: 'a', to: 'a/' }))).toEqual(['a!', 'a-b/', 'a/']);
      expect(sortKeys(await table.query(pk, { from: 'a.', to: 'a0' }))).toEqual(['a/', 'a/b']);
      expect(sortKeys(await table.query(pk, { from: '～' }))).toEqual(['😀']);
      expect(sortKeys(await table.query(pk, { from: '', to: 'a' }))).toEqual(['A', 'a']);
      expect(await table.query(pk, { from: 'b', to: 'b' })).toEqual([]);
      expect(await table.query(pk, { from: 'b', to: 'a' })).toEqual([]);
      expect(await table.query('nothing')).toEqual([]);
      expect(sortKeys(await table.query(pk, { atMost: 2 }))).toEqual(keys.slice(0, 2));
      expect(sortKeys(await table.query(pk, { from: 'a', atMost: 2 }))).toEqual(['a!', 'a-b/']);
      expect(sortKeys(await table.query(pk, { from: 'a', to: 'a/', atMost: 2 }))).toEqual(['a!', 'a-b/']);
      expect(sortKeys(await table.query(pk, { from: 'a', to: 'a/', atMost: 9 }))).toEqual([
        'a!',
        'a-b/',
        'a/',
      ]);
      await expect(table.query(pk, { to: '' })).rejects.toThrow(RangeError);
    });

    it('a query goes on over pages of 1 MB', async () => {
      fresh();
      const body = new Uint8Array(300_000);
      for (let i = 0; i < 9; i++) await table.put({ pk, sk: `k${i}`, body });
      expect(sortKeys(await table.query(pk))).toEqual(Array.from({ length: 9 }, (_, i) => `k${i}`));
      expect(await table.query(pk, { from: 'k0' })).toHaveLength(8);
      expect(await table.query(pk, { maxBytes: 2_800_000 })).toHaveLength(9);
      await expect(table.query(pk, { maxBytes: 2_000_000 })).rejects.toThrow(RangeTooLarge);
    });

    it('one of many conditional puts wins, and no ADD is lost', async () => {
      const key = { pk: fresh(), sk: 's' };
      const all = Array.from({ length: 20 }, (_, i) => i);
      const won = await Promise.all(all.map((i) => table.put({ ...key, owner: `w${i}` }, { absent: 'pk' })));
      expect(won.filter(Boolean)).toHaveLength(1);
      const counts = await Promise.all(
        all.map(async () => (await table.update(key, { add: { n: 1 } }))?.['n']),
      );
      expect(counts.map(Number).sort((a, b) => a - b)).toEqual(all.map((i) => i + 1));
    });

    it('the dirty index holds what has both attributes, oldest first, up to a time and a number', async () => {
      const owner = `c-${fresh()}`;
      const dirty = async (sk: string, dirtyAt: number) =>
        table.put({ pk, sk, dirtyIn: dirtyKeyOf(owner, 'ns', sk), dirtyAt, gen: 1 });
      for (const [sk, at] of [
        ['late', 2_000],
        ['b', 1_000],
        ['a', 999],
        ['c', 1_500],
        ['done', 10],
      ] as const)
        await dirty(sk, at);
      await table.put({ pk, sk: 'other', dirtyIn: dirtyKeyOf(`${owner}x`, 'ns', 'other'), dirtyAt: 1 });
      await table.put({ pk, sk: 'half', dirtyIn: dirtyKeyOf(owner, 'ns', 'half') });
      await table.update({ pk, sk: 'done' }, { remove: ['dirtyAt'] });
      await table.update({ pk, sk: 'c' }, { set: { dirtyAt: 1_200 } });
      const keys = [
        { pk, sk: 'a', dirtyAt: 999 },
        { pk, sk: 'b', dirtyAt: 1_000 },
        { pk, sk: 'c', dirtyAt: 1_200 },
      ];
      // The index may follow a moment later.
      await expect.poll(() => table.queryDirty(owner, 1_200, 10)).toEqual(keys);
      expect(await table.queryDirty(owner, 5_000, 2)).toEqual(keys.slice(0, 2));
      expect(await table.queryDirty('nobody', 5_000, 2)).toEqual([]);
    });

    it('a scan returns the key of every item, page by page', async () => {
      fresh();
      const body = new Uint8Array(100_000);
      for (let i = 0; i < 25; i++) await table.put({ pk: `${pk}-${i % 3}`, sk: `k${i}`, body });
      const keys: Key[] = [];
      let pages = 0;
      for (let next: Key | undefined; pages === 0 || next; pages++) {
        const page = await table.scanKeys(next);
        keys.push(...page.keys);
        next = page.next;
      }
      expect(pages).toBeGreaterThan(1);
      const here = keys.filter((key) => key.pk.startsWith(`${pk}-`));
      expect(new Set(here.map((key) => `${key.pk} ${key.sk}`))).toEqual(
        new Set(Array.from({ length: 25 }, (_, i) => `${pk}-${i % 3} k${i}`)),
      );
      expect(here).toHaveLength(25);
    });
  });
}
