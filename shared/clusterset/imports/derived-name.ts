import { createHash } from 'node:crypto';
import { derivedPrefix } from '#shared/clusterset/contract/clusterset-names.ts';

/**
 * The name of the Service that an import is reached by, as the API's reference controllers make it (MC-30):
 * the same in every cluster, and found by tools that do not read the annotation.
 */
export function derivedName(namespace: string, name: string): string {
  const digest = createHash('sha256').update(`${namespace}/${name}`).digest();
  const bits = digest.readBigUInt64BE();
  let text = '';
  for (let i = 1; i <= length; i++) text += alphabet[Number((bits >> BigInt(64 - 5 * i)) & 31n)];
  return derivedPrefix + text;
}

const length = 10;
/** RFC 4648's base32hex, in lower case. */
const alphabet = '0123456789abcdefghijklmnopqrstuv';
