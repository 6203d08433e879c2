/** Checks docs/develop/parity.md: every statement and scenario has its row, and every row an existing test. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { familyOf, readVectors, recorded } from '#test/worlds/conformance/vector.ts';

/**
 * The IDs of docs/develop/behaviour.md by prefix, for computation, wake-ups and writes, and for upstream's scenarios.
 */
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

/** "EP-1, EP-3..5" as IDs. */
const idsIn = (cell: string): readonly string[] =>
  cell.split(',').flatMap((part) => {
    const [, prefix = '', range = ''] = /^\s*([A-Z]+)-(\w+(?:\.\.\w+)?)\s*$/.exec(part) ?? [];
    if (prefix === '') throw new Error(`not a statement: ${part}`);
    return expand(range).map((n) => `${prefix}-${n}`);
  });

interface Row {
  /** Its number, for a deliberate difference. */
  readonly difference: string | undefined;
  readonly ids: readonly string[];
  /** The row's cell about its tests. */
  readonly tests: string;
}

function rowsOf(page: string): readonly Row[] {
  const cells = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (---|Statements|Scenario| \|)/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
    .filter(([first]) => first !== '');
  return cells.map((row) => {
    const [first = '', second = ''] = row;
    const isDifference = /^D\d+$/.test(first);
    return {
      difference: isDifference ? first : undefined,
      ids: idsIn(isDifference ? second : first),
      tests: row.at(-1) ?? '',
    };
  });
}

const families = new Set(recorded.flatMap(readVectors).map(familyOf));
const differencesNamed = (tests: string): readonly string[] =>
  [...tests.replace(/`[^`]*`/g, '').matchAll(/\bD\d+\b/g)].map(([name]) => name);

/** Returns the faults of the page as sentences. */
function faults(page: string): readonly string[] {
  const rows = rowsOf(page);
  const differences = new Set(rows.flatMap((r) => r.difference ?? []));
  const covered = new Set(rows.filter((r) => !r.difference).flatMap((r) => r.ids));
  const missing = allIds.filter((id) => !covered.has(id)).map((id) => `${id} has no row`);
  const unknown = rows
    .flatMap((r) => r.ids)
    .filter((id) => !allIds.includes(id))
    .map((id) => `${id} is no statement`);
  const ofRows = rows.flatMap(({ difference, ids, tests }) => {
    const row = difference ?? ids.join();
    const references = [...tests.matchAll(/`([^`]+\.ts|conformance): ([^`]+)`/g)];
    const named = differencesNamed(tests);
    if (references.length + named.length === 0 && !tests.includes('no test: '))
      return [`${row} names no test`];
    return [
      ...named.filter((d) => !differences.has(d)).map((d) => `${row} names ${d}, which is not listed`),
      ...references
        .filter(([, file = '', text = '']) => !isThere(file, text))
        .map(([reference]) => `${row} names ${reference}, which does not exist`),
    ];
  });
  return [...missing, ...unknown, ...ofRows];
}

/** In a title of the file's tests, or of a case in one of their tables: not just anywhere in its code. */
function isThere(file: string, text: string): boolean {
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

describe('docs/develop/parity.md', () => {
  const page = readFileSync('docs/develop/parity.md', 'utf8');

  it('docs/develop/parity.md has a row for every statement and scenario, and every row a test that exists', () => {
    expect(allIds.length).toBeGreaterThan(390);
    expect(faults(page)).toEqual([]);
  });

  it('docs/develop/parity.md has its deliberate differences in order, each with the statements it departs from', () => {
    const differences = rowsOf(page).flatMap((r) => r.difference ?? []);
    expect(differences).toEqual(differences.map((_, i) => `D${i + 1}`));
    const referred = new Set(rowsOf(page).flatMap((r) => (r.difference ? [] : differencesNamed(r.tests))));
    expect(differences.filter((d) => !referred.has(d))).toEqual([]);
  });

  it.each([
    ['a row taken away', page.replace(/^\| EP-16 .*\n/m, ''), 'EP-16 has no row'],
    [
      'a test renamed',
      page.replace('ports that no pod has lead nowhere', 'ports that no pod has lead somewhere'),
      'EP-16 names `unit/shared/controllers/endpoints/decide.test.ts: ports',
    ],
    ['a statement that there is not', `${page}\n| EP-99 | no test: nothing |\n`, 'EP-99 is no statement'],
    ['a row without a test', page.replace(/^\| EP-16 .*$/m, '| EP-16 | it works |'), 'EP-16 names no test'],
    [
      'a family of vectors that there is not',
      page.replace('`conformance: odd-services`', '`conformance: even-services`'),
      'PK-11 names',
    ],
  ])('would be found wanting with %s', (_what, planted, fault) => {
    expect(faults(planted)).toEqual([expect.stringContaining(fault)]);
  });
});
