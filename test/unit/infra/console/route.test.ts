/** The console's addresses. */
import { expect, it } from 'vitest';
import { hashOf, parseRoute } from '#infra/console/page/route.ts';

it.each(['', '#', '#/', '#/fleet', '#/fleet?minutes=15'])('the address "%s" is the fleet’s', (hash) => {
  expect(parseRoute(hash)).toEqual({ view: 'fleet' });
});

it.each(['#/nonsense', '#/Fleet', '#/%zz'])('the address "%s" is unknown, and not the fleet’s', (hash) => {
  expect(parseRoute(hash)).toEqual({ view: 'unknown' });
});

it('an address has names with any character, and a moment', () => {
  const hash = hashOf('services', 'demo-1', 'shop', 'a/b', '2026-01-02T00:00:00Z');
  expect(parseRoute(hash)).toEqual({
    view: 'services',
    cluster: 'demo-1',
    namespace: 'shop',
    service: 'a/b',
    atMs: Date.parse('2026-01-02T00:00:00Z'),
  });
});
