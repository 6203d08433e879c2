/**
 * A clock for each process, and one for the API server: none is exactly right. It is drawn separately, so
 * other worlds keep their seeds.
 */
import { readCluster } from '#shared/clusters/record.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { maxCallMs } from './draw-limits.ts';
import { type Clocks, cluster, type Profile, rightClocks } from './profile.ts';

/**
 * The history of the cluster begins with a rebuild: by the relay's clock, what happens next may have happened
 * before it.
 */
export const beginsRebuilt = ({ clocks, goesBack }: Profile): boolean =>
  clocks.relayAheadMs !== 0 && goesBack !== 'never';

/**
 * Would the hub take a restore of this revision, now, for none? By the relay's slow clock it is older than
 * the incarnation, and the hub has heard of no version that it takes away. No session can be told from one of
 * the same history then (docs/develop/architecture.md, "Not guaranteed").
 */
export async function looksLikeNone(
  table: Table,
  nowMs: number,
  { relayAheadMs }: Clocks,
  revision: number,
): Promise<boolean> {
  const record = await readCluster(table, cluster);
  if (!record || nowMs + relayAheadMs > record.incarnationSinceMs) return false;
  return record.relay.readUpTo.Service <= versionOf(record.incarnation, String(revision));
}

const share = 0.3;

/** `calm`: all are right, unless a mutant asks for others. */
export function drawClocks(seed: number, profile: Profile, calm: boolean): Clocks {
  const random = new Random(seed + 0xc10c);
  if (calm || !random.chance(share)) return rightClocks;
  const minutes = (): number => random.pick([-1, 1]) * random.between(60_000, 600_000);
  return {
    hubSkewMs: Math.floor(mostSkewMs(profile) / 2),
    relayAheadMs: random.pick([0, minutes()]),
    apiServerAheadMs: random.pick([0, minutes()]),
  };
}

/** Two workers are apart by no more than a lease is longer than a run with its last call. */
const mostSkewMs = ({ limits: { sync, runs }, stalls, hangs }: Profile): number =>
  Math.max(0, sync.leaseMs - runs.workerMs - maxCallMs(stalls + hangs));
