import type { AddressType } from './types.ts';

export interface IP {
  readonly family: AddressType;
  /** Canonical: dotted decimal, or RFC 5952. */
  readonly text: string;
}

/**
 * Reads an IP as leniently as upstream's ParseIPSloppy and writes it as Go does (SH-8): leading zeros are decimal, an
 * IPv4-mapped IPv6 address is IPv4, a zone is an error. Returns undefined for any other text, and callers skip it. Upstream
 * would write the literal `<nil>`, which the API refuses for ever (SH-9; a deliberate difference).
 */
export function canonicalIP(text: string): IP | undefined {
  // by far the usual case, and ten times as fast
  if (isCanonicalIPv4(text)) return { family: 'IPv4', text };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === dot) {
      const octets = parseIPv4(text);
      return octets && { family: 'IPv4', text: octets.join('.') };
    }
    if (c === colon) {
      const groups = parseIPv6(text);
      return groups && formatGroups(groups);
    }
  }
  return undefined;
}

/** Returns the address as a number, as leniently as `canonicalIP`, or undefined for any other text. */
export function parsedIP(text: string): { readonly family: AddressType; readonly bits: bigint } | undefined {
  const ip = canonicalIP(text);
  if (!ip) return undefined;
  const isIPv4 = ip.family === 'IPv4';
  const parts = (isIPv4 ? parseIPv4(ip.text) : parseIPv6(ip.text)) ?? [];
  return { family: ip.family, bits: parts.reduce((bits, part) => (bits << (isIPv4 ? 8n : 16n)) | BigInt(part), 0n) };
}

const dot = 0x2e;
const colon = 0x3a;
const zero = 0x30;

/** Four numbers up to 255 without leading zeros. */
function isCanonicalIPv4(text: string): boolean {
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === dot) {
      if (octet < 0) return false;
      dots++;
      octet = -1;
    } else {
      const digit = c - zero;
      if (digit < 0 || digit > 9 || octet === 0) return false;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return false;
    }
  }
  return dots === 3 && octet >= 0;
}

function parseIPv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const octets: number[] = [];
  for (const part of parts) {
    const octet = parseDigits(part, 10, 0xff);
    if (octet === undefined) return undefined;
    octets.push(octet);
  }
  return octets;
}

/** Eight groups of 16 bits. */
function parseIPv6(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) => parseGroups(half, i === halves.length - 1));
  if (!head) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  // "::" stands for one group at least
  if (!tail || head.length + tail.length > 7) return undefined;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** Groups between colons; the last one of the address may be an IPv4 address, which makes two. */
function parseGroups(text: string, last: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (last && i === parts.length - 1 && part.includes('.')) {
      const octets = parseIPv4(part);
      if (!octets) return undefined;
      const [a, b, c, d] = octets as [number, number, number, number];
      groups.push(a * 256 + b, c * 256 + d);
    } else {
      const group = parseDigits(part, 16, 0xffff);
      if (group === undefined) return undefined;
      groups.push(group);
    }
  }
  return groups;
}

function formatGroups(groups: readonly number[]): IP {
  if (groups[5] === 0xffff && groups.slice(0, 5).every((g) => g === 0)) {
    const [high, low] = [groups[6] as number, groups[7] as number];
    return { family: 'IPv4', text: [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.') };
  }
  // the first of the longest runs of two zero groups or more
  let start = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (groups[end] === 0) end++;
    if (end - i > length) [start, length] = [i, end - i];
    i = Math.max(i, end - 1);
  }
  const hex = groups.map((g) => g.toString(16));
  const text = start < 0 ? hex.join(':') : `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
  return { family: 'IPv6', text };
}

function parseDigits(text: string, base: 10 | 16, max: number): number | undefined {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const lower = c | 0x20;
    const digit = c >= zero && c <= 0x39 ? c - zero : base === 16 && lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
    if (digit < 0) return undefined;
    n = n * base + digit;
    if (n > max) return undefined;
  }
  return text === '' ? undefined : n;
}
