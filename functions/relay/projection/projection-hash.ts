import { hash, randomBytes } from 'node:crypto';

/**
 * 48 bits of a projection's text. Salted, so that a tenant cannot construct two states with the same hash; by
 * chance two states of one object do so once in 10^14 updates, and then only until the next list.
 */
export const projectionHash = (text: string): number =>
  hash('sha256', salt + text, 'buffer').readUIntBE(0, 6);

const salt = randomBytes(16).toString('base64');
