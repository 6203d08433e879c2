import { describe, expect, it } from 'vitest';
import { type Cidr, cidrContains, cidrsOverlap, parseCidr } from '#shared/kube/cidr.ts';

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`no CIDR: ${text}`);
  return parsed;
};

describe('a CIDR', () => {
  it.each([
    ['10.20.0.0/16', '10.20.255.255', true],
    ['10.20.0.0/16', '10.21.0.0', false],
    ['10.20.0.0/16', '::ffff:10.20.0.1', true],
    ['10.20.0.0/16', 'fd00::1', false],
    ['0.0.0.0/0', '255.1.2.3', true],
    ['10.1.2.3/32', '10.1.2.3', true],
    ['10.1.2.3/32', '10.1.2.4', false],
    ['fd00:1::/32', 'fd00:1:ffff::1', true],
    ['fd00:1::/32', 'fd00:2::1', false],
    ['::/0', 'fe80::1', true],
    ['10.20.0.0/16', 'not an address', false],
  ])('%s has %s: %s', (range, address, expected) => {
    expect(cidrContains(cidr(range), address)).toBe(expected);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.1/24',
    'fd00::/129',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '/8',
    '',
    'x/8',
    '10.0.0.0/-1',
  ])('no CIDR is read from %s', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  it.each([
    ['10.0.0.0/8', '10.20.0.0/16', true],
    ['10.20.0.0/16', '10.0.0.0/8', true],
    ['10.20.0.0/16', '10.21.0.0/16', false],
    ['0.0.0.0/0', '::/0', false],
  ])('%s overlaps %s: %s', (a, b, expected) => {
    expect(cidrsOverlap(cidr(a), cidr(b))).toBe(expected);
  });
});
