import { describe, expect, it } from 'vitest';
import { sameLabels, selectorMatches } from '#shared/kube/labels.ts';

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

describe('sameLabels', () => {
  it('takes no labels and empty labels for the same', () => {
    expect(sameLabels(undefined, {})).toBe(true);
    expect(sameLabels(null, undefined)).toBe(true);
  });

  it('compares pairs, in any order', () => {
    expect(sameLabels({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true);
    expect(sameLabels({ a: '1' }, { a: '2' })).toBe(false);
    expect(sameLabels({ a: '1' }, { a: '1', b: '' })).toBe(false);
    expect(sameLabels({ a: '1', b: '' }, { a: '1' })).toBe(false);
    expect(sameLabels({ a: '' }, { b: '' })).toBe(false);
    expect(sameLabels({ a: '1' }, undefined)).toBe(false);
  });
});
