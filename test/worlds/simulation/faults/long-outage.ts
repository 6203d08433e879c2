/**
 * Ingest does not run for hours, just when the first lists have begun: their parts wait in the queue, and
 * records with a time to live expire. It is drawn separately, so other worlds keep their seeds.
 */
import type { Item } from '#shared/store/table.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { WorldState } from '#test/worlds/simulation/world/world-state.ts';
import { faultless, type Profile, withLimits } from './profile.ts';

const share = 0.015;
const hourMs = 3_600_000;

/** `calm`: none, unless a mutant asks for it. */
export function drawLongOutage(seed: number, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x0a7e);
  return calm || !random.chance(share) ? {} : longOutage(random);
}

/** The parts of a list are small, so that some are applied before the outage and others after it. */
export const longOutage = (random: Random): Partial<Profile> => {
  const ingestOutageMs = random.between(hourMs, 3 * hourMs);
  return {
    ...faultless,
    ...{ namespaces: 1, services: 4, pods: 8, changes: 10 },
    ...{ ingestOutageMs, faultsUntilMs: ingestOutageMs + 60_000, sweepMs: 600_000, outputsBefore: true },
    limits: withLimits({ relay: { pageSize: 1 }, runs: { batchSize: 1 } }),
  };
};

/** Returns true while ingest does not run. Afterwards `onEnd` is called. */
export function planLongOutage(world: WorldState, onEnd: () => void): () => boolean {
  const { scheduler, profile, random } = world;
  if (profile.ingestOutageMs === 0) return () => false;
  const from = scheduler.now + random.between(50, 600);
  const until = from + profile.ingestOutageMs;
  scheduler.at(until, onEnd);
  scheduler.at(until - 1, () => void expire(world));
  return () => scheduler.now >= from && scheduler.now < until;
}

/** As DynamoDB does within days, and just when it matters. */
async function expire({ table, scheduler }: WorldState): Promise<void> {
  const isOver = ({ ttl }: Item): boolean => typeof ttl === 'number' && ttl * 1000 < scheduler.now;
  for (const item of await table.items()) if (isOver(item)) await table.delete(item);
}
