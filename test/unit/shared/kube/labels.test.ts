import { describe, expect, it } from 'vitest';
import { sameLabels } from '#shared/kube/labels.ts';

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
