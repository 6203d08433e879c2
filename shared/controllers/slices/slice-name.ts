import { fnv1a128 } from '#shared/kube/hash.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  labelSourceCluster,
  optInManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import type { SliceDraft } from './plan.ts';
import { portMapKey } from './ports.ts';

/**
 * Gives the draft the first of its names that is free. A repeated run computes the same names, so it finds a
 * slice that was created just before a crash. After AlreadyExists, try again with that name taken.
 */
export function assignName(draft: SliceDraft, serviceUid: string, taken: ReadonlySet<string>): EndpointSlice {
  const serviceName = draft.metadata.labels?.[labelServiceName] ?? '';
  const portsKey = portMapKey(draft.ports);
  // Names differ by source and writer. Otherwise the sources of an import, or the two writers of a hand-over,
  // could take more names than a create tries.
  const { [labelSourceCluster]: source, [labelSliceManagedBy]: managedBy } = draft.metadata.labels ?? {};
  const writer = managedBy === optInManagedBy ? [managedBy] : [];
  const owner = [serviceUid, ...(source === undefined ? [] : [source]), ...writer].join('\n');
  let ordinal = 0;
  let name: string;
  const identity = [owner, draft.addressType, portsKey];
  do name = sliceName(serviceName, identity, ordinal++);
  while (taken.has(name));
  return { ...draft, metadata: { ...draft.metadata, name } };
}

/** A name of the shape that the API server makes of generateName (ES-53), but the same each time. */
export function sliceName(serviceName: string, identity: readonly string[], ordinal: number): string {
  let hash = BigInt(`0x${fnv1a128([...identity, ordinal].join('\n'))}`);
  let suffix = '';
  for (let i = 0; i < 5; i++) {
    suffix += alphabet[Number(hash % 27n)];
    hash /= 27n;
  }
  return generateNamePrefix(serviceName).slice(0, 58) + suffix;
}

/** Returns the prefix of the slices' names, which ends with a dash if a valid name can begin so. */
export function generateNamePrefix(serviceName: string): string {
  const prefix = `${serviceName}-`;
  return prefix.length <= 253 && subdomain.test(`${serviceName.slice(0, -1)}a`) ? prefix : serviceName;
}

/** The API server's alphabet for random names: no vowels, and no digits that look like vowels. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
