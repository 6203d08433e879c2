/**
 * Slices and Endpoints of other writers than the hub and the built-in controllers, in a cluster whose Services may opt in. The hub does not touch them for a
 * Service that opts in: they are served beside its own, and explain names them. Each list renews their records, and records without renewal expire.
 */
import { ttlAttribute } from '#shared/contract/table-attributes.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { otherKey, othersOf, type ServiceKey } from './keys.ts';
import type { Table } from './table.ts';

export interface OtherOutput {
  readonly kind: OutputKind;
  readonly name: string;
  /** Managed-by label of the object. */
  readonly managedBy: string | undefined;
  readonly seenAtMs: number;
}

/** The relay lists outputs every two hours at the latest. */
const keptMs = 5 * 3_600_000;

export async function noteOther(table: Table, service: ServiceKey, { kind, name, managedBy, seenAtMs }: OtherOutput): Promise<void> {
  const until = Math.ceil((seenAtMs + keptMs) / 1000);
  await table.put({ ...otherKey(service, kind, name), kind, name, ...(managedBy && { by: managedBy }), at: seenAtMs, [ttlAttribute]: until });
}

export const forgetOther = async (table: Table, service: ServiceKey, kind: OutputKind, name: string): Promise<void> =>
  void (await table.delete(otherKey(service, kind, name)));

/** Returns the records that have not expired, because TTL may delete them days late. */
export async function readOthers(table: Table, { cluster, namespace, name }: ServiceKey, nowMs: number): Promise<readonly OtherOutput[]> {
  const items = await table.query(othersOf(cluster, namespace, name));
  return items
    .map((i) => ({ kind: i['kind'] as OutputKind, name: i['name'] as string, managedBy: i['by'] as string | undefined, seenAtMs: i['at'] as number }))
    .filter((other) => other.seenAtMs > nowMs - keptMs);
}
