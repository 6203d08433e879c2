import { describe, expect, it } from 'vitest';
import { parseSelector } from '#shared/controllers/opt-in/selector.ts';
import { selectorText } from '#shared/kube/selectors/label-selector.ts';

const long = 'x'.repeat(63);

describe('the annotation fleet-endpoints/selector', () => {
  it.each([
    ['app=web', { app: 'web' }],
    ['app=web,tier=front', { app: 'web', tier: 'front' }],
    [' app = web , tier = front ', { app: 'web', tier: 'front' }],
    ['app==web', { app: 'web' }],
    ['app in (web)', { app: 'web' }],
    ['app=web,app in (web)', { app: 'web' }],
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
    ['app in (a, b)', 'app in (a,b)'],
    ['tier!=db , app=web', 'app=web,tier!=db'],
    ['!canary', '!canary'],
    ['team', 'team'],
    ['weight>5', 'weight>5'],
    ['app=a,app=b', 'app=a,app=b'],
  ])('selects more than spec.selector can: %s', (text, printed) => {
    const { selector } = parseSelector(text);
    expect(selector && [Array.isArray(selector), selectorText(selector)]).toEqual([true, printed]);
  });

  it.each([
    ['', 'it is empty: 1 to 16 requirements'],
    ['  ', 'it is empty'],
    ['app=web,', "found '', expected: identifier after ','"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['=web', "found '=', expected: !, identifier, or 'end of string'"],
    ['-app=web', 'unable to parse requirement: Invalid value: "-app": name part must consist of'],
    ['Example.com/app=web', 'prefix part a lowercase RFC 1123 subdomain must consist of'],
    ['a/b/c=web', 'a valid label key must consist of'],
    [`${long}x=web`, 'name part must be no more than 63 bytes'],
    ['app=we b', "found 'b', expected: ',' or 'end of string'"],
    ['app=ü', 'values[0][app]: Invalid value: "ü": a valid label must be'],
    [`app=${long}x`, 'must be no more than 63 bytes'],
    ['app=a=b', "found '=', expected: ',' or 'end of string'"],
    ['app>b', "for 'Gt', 'Lt' operators, the value must be an integer"],
    [Array.from({ length: 17 }, (_, i) => `k${i}=v`).join(','), 'it has 17 requirements, and 16 are allowed'],
    [`app=${'x'.repeat(1021)}`, 'it has 1025 characters, and 1024 are allowed'],
  ])('the annotation fleet-endpoints/selector is refused with its error: %s', (text, error) => {
    expect(parseSelector(text).error).toContain(error);
  });

  it('an error is short, however long the text', () => {
    expect(parseSelector(`app in (${'-,'.repeat(500)}x)`).error?.length).toBeLessThan(700);
    expect(parseSelector(`app=${'x'.repeat(1000)}`).error).toContain('xxx…');
  });
});
