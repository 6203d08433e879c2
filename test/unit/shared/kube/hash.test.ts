import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fnv1a128 } from '#shared/kube/hash.ts';

describe('fnv1a128', () => {
  it('fnv1a128 is the offset basis for the empty text', () => {
    expect(fnv1a128('')).toBe('6c62272e07bb014262b821756295c58d');
  });

  it.each([
    [
      '(v1.EndpointPort){Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)8080 AppProtocol:(*string)<nil>}',
      '0e874d5677090ee5c32afa85f637c347',
    ],
    [
      '(v1.EndpointPort){Name:(*string)dns Protocol:(*v1.Protocol)UDP Port:(*int32)53 AppProtocol:(*string)foo}',
      '159aa70287cbc31865ba1ca9c798d95d',
    ],
    [
      '(v1.EndpointPort){Name:(*string)https Protocol:(*v1.Protocol)TCP Port:(*int32)8443 AppProtocol:(*string)<nil>}',
      '96bd08971af7335e18af891d4fe83877',
    ],
    [
      '(v1.EndpointPort){Name:(*string) Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)<nil>}',
      '73b52e075e78e70787d5e6ffd2212eef',
    ],
    ['([]v1.EndpointPort)[]', 'b823fa277840572f948b7ebdb09f7a1d'],
    [
      '([]v1.EndpointPort)[{Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)8080 AppProtocol:(*string)<nil>}]',
      '8f86b690dee55e9f32e56e4efbcd8a27',
    ],
  ])('hashes the slice ports %s as upstream does', (text, hash) => {
    expect(fnv1a128(text)).toBe(hash);
  });

  it('fnv1a128 is FNV-1a over UTF-8 for any text [UT-56 TestDeepHashObject]', () => {
    const slow = (text: string) => {
      let h = 0x6c62272e07bb014262b821756295c58dn;
      for (const byte of Buffer.from(text, 'utf8'))
        h = BigInt.asUintN(128, (h ^ BigInt(byte)) * 0x0000000001000000000000000000013bn);
      return h.toString(16).padStart(32, '0');
    };
    const anyText = fc
      .array(fc.nat(0x10ffff), { maxLength: 50 })
      .map((points) => String.fromCodePoint(...points));
    fc.assert(fc.property(anyText, (text) => fnv1a128(text) === slow(text)));
  });
});
