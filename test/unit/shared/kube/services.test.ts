import { describe, expect, it } from 'vitest';
import { clusterIPFamily, hasClusterIPNone, isHeadless } from '#shared/kube/services.ts';
import { service } from './objects.ts';

describe('a service', () => {
  it.each([
    ['10.0.0.1', false, false, 'IPv4'],
    ['fd00::1', false, false, 'IPv6'],
    ['None', true, true, undefined],
    ['', true, false, undefined],
    ['nonsense', false, false, 'IPv4'],
  ])('with cluster IP "%s": headless %s, None %s, family %s', (clusterIP, headless, none, family) => {
    const s = service({ clusterIP });
    expect(isHeadless(s)).toBe(headless);
    expect(hasClusterIPNone(s)).toBe(none);
    expect(clusterIPFamily(s)).toBe(family);
  });

  it('without a spec is headless', () => {
    expect(isHeadless({ metadata: { name: 'svc' } })).toBe(true);
  });
});
