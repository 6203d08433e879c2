import { parsedIP } from './ip.ts';
import type { AddressType } from './types.ts';

/**
 * A range of addresses, as CEL's `cidr()` reads it: what the hub lets through, an admission policy with the
 * same text lets through.
 */
export interface Cidr {
  readonly family: AddressType;
  /** The first address, as a number. */
  readonly network: bigint;
  /** How many of the lowest bits of an address are its own. */
  readonly hostBits: number;
}

/**
 * Returns undefined unless the text is a range. Errors are a missing or too long prefix, and bits behind the
 * prefix.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const ip = parsedIP(address);
  if (!ip || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  const hostBits = (ip.family === 'IPv4' ? 32 : 128) - Number(prefix);
  if (hostBits < 0 || (ip.bits >> BigInt(hostBits)) << BigInt(hostBits) !== ip.bits) return undefined;
  return { family: ip.family, network: ip.bits, hostBits };
}

export function cidrContains({ family, network, hostBits }: Cidr, address: string): boolean {
  const ip = parsedIP(address);
  return ip?.family === family && ip.bits >> BigInt(hostBits) === network >> BigInt(hostBits);
}

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  const hostBits = BigInt(Math.max(a.hostBits, b.hostBits));
  return a.family === b.family && a.network >> hostBits === b.network >> hostBits;
}
