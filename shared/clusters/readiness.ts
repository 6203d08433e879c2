/** What is known of a cluster before it may be switched to active: `fleet-endpoints cluster active` asks for it. */
import { metaKey } from '#shared/store/keys.ts';
import type { Item, Table } from '#shared/store/table.ts';
import { type ClusterSwitch, isRegistered, isSwitch } from './mode.ts';

export interface Readiness {
  /** Which of the writer's rights were missing when sweep asked last, while we do not write; or why it got no answer. */
  readonly rights: RightsAnswer | undefined;
  /** When shadow mode last met a difference; 0 for never. */
  readonly differenceAtMs: number;
  /** When all was last found ready but that the cluster's own controllers still ran; 0 for never. */
  readonly readyAtMs: number;
}

export interface RightsAnswer {
  readonly atMs: number;
  readonly missing: readonly string[];
  /** Rights that Services that opt in need. */
  readonly optIn: readonly string[];
  /** What imports lack; undefined for a cluster that is in no set. */
  readonly imports?: readonly string[];
  readonly error?: string;
}

const attributes = { rights: 'rights', differenceAtMs: 'differenceAt', readyAtMs: 'readyAt' } as const;

export function decodeReadiness(item: Item): Readiness {
  const number = (attribute: string): number => (item[attribute] as number | undefined) ?? 0;
  return { rights: decodeRights(item), differenceAtMs: number(attributes.differenceAtMs), readyAtMs: number(attributes.readyAtMs) };
}

function decodeRights(item: Item): RightsAnswer | undefined {
  const text = item[attributes.rights];
  if (typeof text !== 'string') return undefined;
  const { at, ...answer } = JSON.parse(text) as { readonly at: number } & Omit<RightsAnswer, 'atMs'>;
  return { atMs: at, ...answer };
}

/** An answer that a switch of mode has overtaken is not recorded. */
export async function recordRights(table: Table, { id, modeSwitch }: ClusterSwitch, { atMs, ...answer }: RightsAnswer): Promise<void> {
  await table.update(metaKey(id), { set: { [attributes.rights]: JSON.stringify({ at: atMs, ...answer }) } }, isSwitch(modeSwitch));
}

export async function recordDifference(table: Table, cluster: string, nowMs: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [attributes.differenceAtMs]: nowMs } });
}

export async function recordReady(table: Table, cluster: string, nowMs: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [attributes.readyAtMs]: nowMs } }, isRegistered);
}
