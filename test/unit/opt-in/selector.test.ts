import { describe, expect, it } from 'vitest';
import { parseSelector } from '#shared/controllers/opt-in/selector.ts';

const long = 'x'.repeat(63);

describe('the annotation fleet-endpoints/selector', () => {
  it.each([
    ['app=web', { app: 'web' }],
    ['app=web,tier=front', { app: 'web', tier: 'front' }],
    [' app = web , tier = front ', { app: 'web', tier: 'front' }],
    ['app=', { app: '' }],
    ['app.kubernetes.io/name=web_1.2', { 'app.kubernetes.io/name': 'web_1.2' }],
    [`${long}=${long}`, { [long]: long }],
    [
      Array.from({ length: 16 }, (_, i) => `k${i}=v`).join(','),
      Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v'])),
    ],
  ])('selects as spec.selector does: %s', (text, selector) => {
    expect(parseSelector(text)).toEqual({ selector });
  });

  it.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['app', '"app" is not a pair'],
    ['app=web,', '"" is not a pair'],
    ['app==web', '"app==web" is not a pair'],
    ['app!=web', '"app!=web" is not a pair'],
    ['a in (b)', '"a in (b)" is not a pair'],
    ['=web', '"" is not a label key'],
    ['-app=web', '"-app" is not a label key'],
    ['Example.com/app=web', '"Example.com/app" is not a label key'],
    ['a/b/c=web', '"a/b/c" is not a label key'],
    [`${long}x=web`, 'is not a label key'],
    ['app=we b', '"we b" is not a label value'],
    ['app=ü', '"ü" is not a label value'],
    [`app=${long}x`, 'is not a label value'],
    ['app=a=b', '"a=b" is not a label value'],
    ['app=a,app=b', 'the key "app" occurs twice'],
    [Array.from({ length: 17 }, (_, i) => `k${i}=v`).join(','), 'it has 17 pairs, and 16 are allowed'],
    [`app=${'x'.repeat(1021)}`, 'it has 1025 characters, and 1024 are allowed'],
  ])('the annotation fleet-endpoints/selector is refused with its error: %s', (text, error) => {
    expect(parseSelector(text).error).toContain(error);
  });
});
