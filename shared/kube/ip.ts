import type { AddressType } from './types.ts';

export interface IP {
  readonly family: AddressType;
  /** Canonical: dotted decimal, or RFC 5952. */
  readonly text: string;
}

/**
 * Reads an IP as leniently as upstream's ParseIPSloppy and writes it as Go does (SH-8): leading zeros are
 * decimal, an IPv4-mapped IPv6 address is IPv4, a zone is an error. Returns undefined for any other text, and
 * callers skip it. Upstream would write the literal `<nil>`, which the API refuses for ever (SH-9; a
 * deliberate difference).
 */
export function canonicalIP(text: string): IP | undefined {
  if (!text.includes(':')) {
    const octets = parseIPv4(text);
    return octets && { family: 'IPv4', text: octets.join('.') };
  }
  const canonical = canonicalIPv6(text);
  if (canonical === undefined) return undefined;
  if (!/^::ffff:[\da-f]+:[\da-f]+$/.test(canonical)) return { family: 'IPv6', text: canonical };
  const octets = groupsOf(canonical)
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff]);
  return { family: 'IPv4', text: octets.join('.') };
}

/** Returns the address as a number, as leniently as `canonicalIP`, or undefined for any other text. */
export function parsedIP(text: string): { readonly family: AddressType; readonly bits: bigint } | undefined {
  const ip = canonicalIP(text);
  if (!ip) return undefined;
  const isIPv4 = ip.family === 'IPv4';
  const parts = isIPv4 ? ip.text.split('.').map(Number) : groupsOf(ip.text);
  return {
    family: ip.family,
    bits: parts.reduce((bits, part) => (bits << (isIPv4 ? 8n : 16n)) | BigInt(part), 0n),
  };
}

function parseIPv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  const octets = parts.map(Number);
  return parts.length === 4 &&
    parts.every((part) => /^\d+$/.test(part)) &&
    octets.every((octet) => octet <= 255)
    ? octets
    : undefined;
}

/**
 * Returns the text by RFC 5952, as URLs have it. Groups may have any number of leading zeros, and the last
 * two may be an IPv4 address.
 */
function canonicalIPv6(text: string): string | undefined {
  const last = text.slice(text.lastIndexOf(':') + 1);
  const octets = last.includes('.') ? parseIPv4(last) : undefined;
  const [a = 0, b = 0, c = 0, d = 0] = octets ?? [];
  const hex = octets
    ? `${text.slice(0, -last.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
    : text;
  if (!/^[\da-f:]+$/i.test(hex)) return undefined;
  const url = `http://[${hex.replace(/(?<![\da-f])0+(?=[\da-f])/gi, '')}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}

/** Eight groups of 16 bits of a canonical address. */
function groupsOf(text: string): readonly number[] {
  const [head = [], tail = []] = text.split('::').map((half) =>
    half
      .split(':')
      .filter((group) => group !== '')
      .map((group) => Number.parseInt(group, 16)),
  );
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
