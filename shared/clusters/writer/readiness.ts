/** Facts that `fleet-endpoints cluster active` checks before it switches a cluster to active. */
import { metaKey } from '#shared/store/keys.ts';
import { type Item, jsonIn, numberOf, type Table } from '#shared/store/table.ts';
import { type ClusterSwitch, isRegistered, isSwitch } from './mode.ts';

export interface Readiness {
  /**
   * The result of sweep's last check of the writer's rights in a cluster that the hub does not write to:
   * missing rights or an error.
   */
  readonly rights: RightsAnswer | undefined;
  /** Time of the last difference in shadow mode, ms since the epoch, or 0. */
  readonly differenceAtMs: number;
  /**
   * Time when all checks last passed, except that the cluster's own controllers still ran. Ms since the
   * epoch, or 0.
   */
  readonly readyAtMs: number;
  /** End of the credentials in the cluster's secret, ms since the epoch, or 0 if they show no end. */
  readonly credentialsEndMs: number;
}

export interface RightsAnswer {
  readonly atMs: number;
  readonly missing: readonly string[];
  /** Missing rights for Services that opt in. */
  readonly optIn: readonly string[];
  /** Missing rights for imports. Undefined for a cluster outside of sets. */
  readonly imports?: readonly string[];
  readonly error?: string;
}

const attributes = {
  rights: 'rights',
  differenceAtMs: 'differenceAt',
  readyAtMs: 'readyAt',
  credentialsEndMs: 'credentialsEnd',
} as const;

export function decodeReadiness(item: Item): Readiness {
  return {
    rights: decodeRights(item),
    differenceAtMs: numberOf(item, attributes.differenceAtMs),
    readyAtMs: numberOf(item, attributes.readyAtMs),
    credentialsEndMs: numberOf(item, attributes.credentialsEndMs),
  };
}

function decodeRights(item: Item): RightsAnswer | undefined {
  const rights = jsonIn<{ readonly at: number } & Omit<RightsAnswer, 'atMs'>>(item, attributes.rights);
  if (!rights) return undefined;
  const { at, ...answer } = rights;
  return { atMs: at, ...answer };
}

/** Records the answer, unless the mode has been switched since. */
export async function recordRights(
  table: Table,
  { id, modeSwitch }: ClusterSwitch,
  { atMs, ...answer }: RightsAnswer,
): Promise<void> {
  await table.update(
    metaKey(id),
    { set: { [attributes.rights]: JSON.stringify({ at: atMs, ...answer }) } },
    isSwitch(modeSwitch),
  );
}

export async function recordDifference(table: Table, cluster: string, nowMs: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [attributes.differenceAtMs]: nowMs } });
}

export async function recordReady(table: Table, cluster: string, nowMs: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [attributes.readyAtMs]: nowMs } }, isRegistered);
}

export async function recordCredentialsEnd(table: Table, cluster: string, endMs: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [attributes.credentialsEndMs]: endMs } }, isRegistered);
}
