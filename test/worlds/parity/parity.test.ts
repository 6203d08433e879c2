/** Checks docs/develop/parity.yaml: every statement and scenario is there, with a test that exists. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Parity,
  readParity,
  type Statement,
  statementsOf,
} from '#infra/package/reference/parity-statements.ts';
import { familyOf, readVectors, recorded } from '#test/worlds/conformance/vector.ts';

/** The IDs by prefix: a statement that went unseen is missing here. */
const specified: { readonly [prefix: string]: string } = {
  G: '1..11',
  EV: '1..22',
  PK: '1..13',
  SH: '1..10',
  Q: '1..30',
  EP: '1..26 50..61 61a 62 62a 63..69 69a..c 70..72',
  RS: '1..16',
  TT: '1..16',
  ES: '1..25 25a..f 26..44 47..64',
  TR: '1..9',
  TA: '0..21',
  TD: '1..7',
  API: '1..11',
  ME: '1..12 20..26',
  UT: '1..32 40..46 50..69 80..94 100..111 120..122 130..136',
};

/** "3..5" is 3, 4, 5; "25a..c" is 25a, 25b, 25c. */
function expand(range: string): readonly string[] {
  const [, number = '', letter = '', end = ''] = /^(\d+)([a-z]?)(?:\.\.(\w+))?$/.exec(range) ?? [];
  if (number === '') throw new Error(`not a range: ${range}`);
  if (end === '') return [number + letter];
  const [from, to] =
    letter === '' ? [Number(number), Number(end)] : [letter.charCodeAt(0), end.charCodeAt(0)];
  return Array.from({ length: to - from + 1 }, (_, i) =>
    letter === '' ? String(from + i) : number + String.fromCharCode(from + i),
  );
}

const allIds = Object.entries(specified).flatMap(([prefix, ranges]) =>
  ranges.split(' ').flatMap((r) => expand(r).map((n) => `${prefix}-${n}`)),
);

const families = new Set(recorded.flatMap(readVectors).map(familyOf));

/** Returns what is wrong with the statements and differences as sentences. */
function faults(parity: Parity): readonly string[] {
  const statements = statementsOf(parity);
  const ids = statements.map(({ id }) => id);
  const differences = new Set(parity.differences.map(({ id }) => id));
  const missing = allIds.filter((id) => !ids.includes(id)).map((id) => `${id} is missing`);
  const unknown = ids
    .filter((id) => !allIds.includes(id) && !isContext(id))
    .map((id) => `${id} is no statement`);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `${id} is there twice`);
  const covers = statements.flatMap(({ id, tests = [], differences: named = [], noTest }) => {
    if (tests.length + named.length === 0 && noTest === undefined)
      return isContext(id) ? [] : [`${id} names no test`];
    return [
      ...named.filter((d) => !differences.has(d)).map((d) => `${id} names ${d}, which is not listed`),
      ...absent(id, tests),
    ];
  });
  return [
    ...missing,
    ...unknown,
    ...twice,
    ...covers,
    ...parity.differences.flatMap((d) => absent(d.id, d.tests)),
  ];
}

/** Behaviour of the mirroring controller and of older and newer versions. */
const isContext = (id: string): boolean => /^(MI|DF)-\d+$/.test(id);

const absent = (id: string, tests: readonly string[]): readonly string[] =>
  tests.filter((test) => !isThere(test)).map((test) => `${id} names ${test}, which does not exist`);

/** In a title of the file's tests, or of a case in one of their tables: not just anywhere in its code. */
function isThere(test: string): boolean {
  const [, file = '', text = ''] = /^(.+?)(?:: (.*))?$/s.exec(test) ?? [];
  if (file === 'conformance') return families.has(text);
  return (
    existsSync(`test/${file}`) &&
    titlesIn(readFileSync(`test/${file}`, 'utf8')).some((title) => title.includes(text))
  );
}

/** Every text of a line on its own: titles are texts, names of imports and variables are not. Comments and module names do not count. */
const titlesIn = (source: string): readonly string[] =>
  source
    .replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    .replace(/from '[^']*'/g, '')
    .split('\n')
    .flatMap((line) => [...line.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , title = '']) => title));

describe('docs/develop/parity.yaml', () => {
  const parity = readParity();

  it('docs/develop/parity.yaml has every statement and scenario with a test that exists, or a reason for none', () => {
    expect(allIds.length).toBeGreaterThan(390);
    expect(faults(parity)).toEqual([]);
  });

  it('docs/develop/parity.yaml has its deliberate differences in order, each with statements that it departs from and a test', () => {
    const { differences } = parity;
    expect(differences.map(({ id }) => id)).toEqual(differences.map((_, i) => `D${i + 1}`));
    const referred = new Set(statementsOf(parity).flatMap((s) => s.differences ?? []));
    expect(differences.filter(({ id, tests }) => !referred.has(id) || tests.length === 0)).toEqual([]);
  });

  const without = (id: string): Parity => edited((s) => (s.id === id ? [] : [s]));
  const changed = (id: string, change: Partial<Statement>): Parity =>
    edited((s) => [s.id === id ? { ...s, ...change } : s]);
  function edited(edit: (s: Statement) => readonly Statement[]): Parity {
    const sections = parity.sections.map((s) => ({ ...s, statements: s.statements.flatMap(edit) }));
    return { ...parity, sections };
  }

  it.each([
    ['a statement taken away', without('EP-16'), 'EP-16 is missing'],
    [
      'a test renamed',
      changed('EP-16', { tests: ['unit/shared/controllers/endpoints/decide.test.ts: lead somewhere'] }),
      'EP-16 names unit/shared/controllers/endpoints/decide.test.ts: lead somewhere, which does not exist',
    ],
    ['a statement that there is not', changed('DF-1', { id: 'EP-99' }), 'EP-99 is no statement'],
    ['a statement without a test', changed('EP-16', { tests: [] }), 'EP-16 names no test'],
    ['a statement twice', changed('DF-1', { id: 'DF-2' }), 'DF-2 is there twice'],
    [
      'a family of vectors that there is not',
      changed('PK-11', { tests: ['conformance: even-services'] }),
      'PK-11 names conformance: even-services',
    ],
  ])('would be found wanting with %s', (_what, planted, fault) => {
    expect(faults(planted).filter((text) => !text.startsWith('EP-99 names'))).toEqual([
      expect.stringContaining(fault),
    ]);
  });
});
