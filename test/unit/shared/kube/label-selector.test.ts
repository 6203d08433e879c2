import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Labels } from '#shared/kube/labels.ts';
import {
  type Selector,
  sameSelectors,
  selectorMatches,
  selectorText,
} from '#shared/kube/selectors/label-selector.ts';
import { parseLabelSelector } from '#shared/kube/selectors/parser.ts';

interface Vector {
  readonly selector: string;
  readonly error?: string;
  readonly text?: string;
  readonly matches?: readonly number[];
}

/** Recorded from apimachinery by the Go test beside it. */
const [first = '', ...lines] = readFileSync('test/cluster/control-plane/selectors/vectors.jsonl', 'utf8')
  .trimEnd()
  .split('\n');
const { labels } = JSON.parse(first) as { readonly labels: readonly Labels[] };
const vectors = lines.map((line) => JSON.parse(line) as Vector);

/** In the form of a vector. */
function played(text: string): Vector {
  const { requirements, error } = parseLabelSelector(text);
  if (error !== undefined) return { selector: text, error };
  const matches = [...labels.keys()].filter((i) => selectorMatches(requirements, labels[i]));
  return { selector: text, text: selectorText(requirements), ...(matches.length > 0 && { matches }) };
}

it('parses, prints and matches as apimachinery does, with its errors', () => {
  expect(vectors.length).toBe(1000);
  // Upstream prints the absent path of a field.
  const expected = vectors.map(({ error, ...vector }) =>
    error === undefined ? vector : { ...vector, error: error.replace('<nil>: ', '') },
  );
  expect(vectors.map(({ selector }) => played(selector))).toEqual(expected);
});

it('prints a selector from which the parser makes the same one', () => {
  for (const { text } of vectors) if (text !== undefined) expect(played(text).text).toBe(text);
});

describe('selectorMatches', () => {
  it('matches nothing without a selector', () => {
    expect(selectorMatches(undefined, {})).toBe(false);
    expect(selectorMatches(null, { app: 'web' })).toBe(false);
  });

  it('matches everything with an empty selector', () => {
    expect(selectorMatches({}, undefined)).toBe(true);
    expect(selectorMatches({}, { app: 'web' })).toBe(true);
  });

  it('wants every pair of the selector', () => {
    expect(selectorMatches({ app: 'web' }, { app: 'web', tier: 'front' })).toBe(true);
    expect(selectorMatches({ app: 'web', tier: 'front' }, { app: 'web' })).toBe(false);
    expect(selectorMatches({ app: 'web' }, { app: 'db' })).toBe(false);
    expect(selectorMatches({ app: '' }, {})).toBe(false);
    expect(selectorMatches({ app: 'web' }, null)).toBe(false);
  });
});

describe('sameSelectors', () => {
  const requirements = (text: string): Selector => parseLabelSelector(text).requirements ?? [];
  it.each([
    [undefined, {}, true],
    [{ a: 'x', b: 'y' }, { b: 'y', a: 'x' }, true],
    [{ a: 'x' }, { a: 'y' }, false],
    [requirements('b,a in (y,x)'), requirements('a in (x,y),b'), true],
    [requirements('a in (x,y)'), requirements('a in (x)'), false],
    [requirements('a=x'), { a: 'x' }, true],
    [requirements('!a'), undefined, false],
  ])('%j and %j: %s', (a, b, same) => {
    expect(sameSelectors(a, b)).toBe(same);
    expect(sameSelectors(b, a)).toBe(same);
  });
});
