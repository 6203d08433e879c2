import { describe, expect, it } from 'vitest';
import { parseSelector } from '#shared/opt-in/selector.ts';

const long = 'x'.repeat(63);

describe('the annotation fleet-endpoints/selector', () => {
  it.each([
    ['app=web', { app: 'web' }],
    ['app=web,tier=front', { app: 'web', tier: 'front' }],
    [' app = web , tier = front ', { app: 'web', tier: 'front' }],
    ['app=', { app: '' }],
    ['app.kubernetes.io/name=web_1.2', { 'app.kubernetes.io/name': 'web_1.2' }],
    [`${long}=${long}`, { [long]: long }],
    [Array.from({ length: 16 }, (_, i) => `k${i}=v`).join(','), Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v']))],
  ])('selects as spec.selector does: %s', (text, selector) => {
    expect(parseSelector(text)).toEqual({ selector });
  });

  it.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['app', '"app" is no pair'],
    ['app=web,', '"" is no pair'],
    ['app==web', '"app==web" is no pair'],
    ['app!=web', '"app!=web" is no pair'],
    ['a in (b)', '"a in (b)" is no pair'],
    ['=web', '"" is no key of a label'],
    ['-app=web', '"-app" is no key of a label'],
    ['Example.com/app=web', '"Example.com/app" is no key of a label'],
    ['a/b/c=web', '"a/b/c" is no key of a label'],
    [`${long}x=web`, 'is no key of a label'],
    ['app=we b', '"we b" is no value of a label'],
    ['app=ü', '"ü" is no value of a label'],
    [`app=${long}x`, 'is no value of a label'],
    ['app=a=b', '"a=b" is no value of a label'],
    ['app=a,app=b', 'the key "app" is there twice'],
    [Array.from({ length: 17 }, (_, i) => `k${i}=v`).join(','), 'it has 17 pairs, and 16 are allowed'],
    [`app=${'x'.repeat(1021)}`, 'it has 1025 characters, and 1024 are allowed'],
  ])('the annotation fleet-endpoints/selector is refused with what is wrong with it: %s', (text, error) => {
    expect(parseSelector(text).error).toContain(error);
  });
});
