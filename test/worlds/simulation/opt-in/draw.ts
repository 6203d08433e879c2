/**
 * Draws if Services opt in by annotation in a world. It is drawn separately, so worlds without opt-in keep
 * their seeds.
 */
import type { WorldLimits } from '#test/worlds/simulation/faults/draw-limits.ts';
import { isLiedTo, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import { Random } from '../random.ts';

export type OptInProfile = Pick<Profile, 'optIn' | 'isBeside' | 'optInChanges' | 'optInSwitches' | 'cleanup'>;

/** A world where no Service opts in. */
export const noOptIn: OptInProfile = {
  optIn: 'off',
  isBeside: false,
  optInChanges: 0,
  optInSwitches: 0,
  cleanup: true,
};

const share = 0.25;

/** `calm`: none, unless a mutant asks for it. */
export function drawOptIn(seed: number, profile: Profile, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x0b71);
  if (calm || !random.chance(share)) return noOptIn;
  const isBeside = random.chance(0.65);
  const isLying = isLiedTo(profile);
  return {
    optIn: 'active',
    isBeside,
    optInChanges: isLying ? 0 : random.between(3, 14),
    optInSwitches: !isLying && random.chance(0.2) ? 1 : 0,
    cleanup: !random.chance(0.15),
    // In a shadow cluster there is nothing else to switch to.
    awayMode: isBeside ? 'paused' : profile.awayMode,
    limits: withTimeForBothWriters(profile.limits),
  };
}

/**
 * For a list of outputs a run reads the outputs of both writers, one after the other. The shortest runs
 * (manyServices) would end before the first service, and never finish the list.
 */
const withTimeForBothWriters = ({ runs, ...limits }: WorldLimits): WorldLimits => ({
  ...limits,
  runs: { ...runs, ingestMs: Math.max(runs.ingestMs, minIngestMs) },
});
const minIngestMs = 350;

/** The cluster's own controllers are on, and the hub writes for Services that opt in alone. */
export const beside = {
  optIn: 'active',
  isBeside: true,
  optInChanges: 20,
  optInSwitches: 0,
  awayMode: 'paused',
} as const satisfies Partial<Profile>;
