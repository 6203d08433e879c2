/**
 * The history of a service: text of its newest records packed into the work item (shared/workqueue/item-store.ts), older ones in items of their own
 * that the table's TTL takes away.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { historyOf, type ServiceKey } from './keys.ts';
import type { Table } from './table.ts';

/**
 * What records have in common, so that the first one packs as well as the tenth; the most frequent at the end. Never changed: packed text is read
 * with the dictionary that it was packed with. Another one needs another first byte.
 */
const dictionary = Buffer.from(
  'there is no such service; its labels matched before: the pod has no label selector app= does not match label app=terminating since , no longer serving' +
    ', still servingno IPv6 addressnode  is not known: left out of slices until it isit has no IP address yetit is on no node yetphase Succeeded: it has run' +
    ' to its endphase Failed: it has no Ready condition, and the service publishes addresses that are not ready"held back: circuit: first lists not complete' +
    'snapshot differs from the clusterpaused"o":{"ep":["p","sl":["f","ports  → http 8080/TCPnode zone hints for zone :443/TCP"ready, terminating and serving' +
    '"not ready, terminatingTerminating"IPv6","fd00::","x":1,"m":2,"the pod is gone",[["Endpoints","192.168.172.16.",0,"ready"],["IPv4","its Ready condition' +
    ' is False since 2026-2027-10T11:00:00Z",[["Endpoints","10."ready","not ready"],["IPv4","10.0.0.0","not ready",0]]],["Z",[["Endpoints","10.0."not ready",' +
    '"ready"],["IPv4","10.0.its Ready condition is True since 2026-11-01T12:00:00Z","a":,"e":,"w":[1,1],"c":[["","s":,"d":}]},{"t":17,"g":]]]]}]',
);
/** What the first byte of packed text says. */
const packedWith = 1;

export function pack(text: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(packedWith), deflateRawSync(text, { dictionary, level: 9 })]);
}

/** Undefined: it was packed by a version that this one does not know, or is broken. */
export function unpack(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== packedWith) return undefined;
  try {
    return inflateRawSync(bytes.subarray(1), { dictionary, maxOutputLength: mostText }).toString();
  } catch {
    return undefined;
  }
}

/** More than the records of one item are, however many pods they name. */
const mostText = 4 << 20;

/** In the order of the newest record in them; two runs of a service may end in the same millisecond, but not for the same generation. */
const sortKey = (ms: number, generation: number): string => `${String(ms).padStart(15, '0')}#${String(generation).padStart(10, '0')}`;

export interface Chunk {
  /** Of the newest record in it. */
  readonly newestMs: number;
  readonly generation: number;
  readonly packed: Uint8Array;
}

export async function saveChunk(table: Table, s: ServiceKey, { newestMs, generation, packed }: Chunk, days: number): Promise<void> {
  const key = { pk: historyOf(s.cluster, s.namespace, s.name), sk: sortKey(newestMs, generation) };
  await table.put({ ...key, r: packed, ttl: Math.ceil(newestMs / 1000) + days * 86_400 });
}

/** The chunks that have a record at that time or later, oldest first. */
export async function readChunks(table: Table, s: ServiceKey, sinceMs: number): Promise<readonly Uint8Array[]> {
  const items = await table.query(historyOf(s.cluster, s.namespace, s.name), { from: sortKey(Math.max(0, sinceMs), 0) });
  return items.flatMap((item) => (item['r'] instanceof Uint8Array ? [item['r']] : []));
}
