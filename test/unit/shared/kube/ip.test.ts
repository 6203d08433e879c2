import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIP } from '#shared/kube/ip.ts';

describe('canonicalIP', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['010.001.2.003', '10.1.2.3'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:0102:0304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
  ])('reads %s as the IPv4 address %s', (text, canonical) => {
    expect(canonicalIP(text)).toEqual({ family: 'IPv4', text: canonical });
  });

  it.each([
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8::A', '2001:db8::a'],
    ['2001:0db8:0000:0000:0001:0000:0000:0001', '2001:db8::1:0:0:1'],
    ['a:0:0:b:0:0:0:1', 'a:0:0:b::1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::1.2.3.4', '::102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
  ])('reads %s as the IPv6 address %s', (text, canonical) => {
    expect(canonicalIP(text)).toEqual({ family: 'IPv6', text: canonical });
  });

  it.each([
    [
      '',
      '1.2.3',
      '1.2.3.4.5',
      '256.1.1.1',
      '1.2.3.x',
      '1.2.3.',
      '.1.2.3',
      ' 1.2.3.4',
      '-1.2.3.4',
      '1.2.3.4/24',
      'host.example.com.x',
      '12',
    ],
    [
      'fe80::1%eth0',
      '1:2:3',
      ':::',
      '1::2::3',
      ':1',
      '1:',
      '::1:',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:8::',
      '10000::',
      'g::',
      '1.2.3.4::',
      '[::1]',
    ],
  ])('takes %s and the like for no IP', (...texts) => {
    for (const text of texts) expect(canonicalIP(text), text).toBeUndefined();
  });

  it('leaves its own texts as they are, and they are IPs', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (g) => {
        const ip = canonicalIP(g.map((n) => n.toString(16)).join(':'));
        expect(isIP(ip?.text ?? '')).toBe(ip?.family === 'IPv4' ? 4 : 6);
        expect(canonicalIP(ip?.text ?? '')).toEqual(ip);
        if (ip?.family === 'IPv6') expect(ip.text).toBe(new URL(`http://[${ip.text}]`).hostname.slice(1, -1));
      }),
    );
  });
});
