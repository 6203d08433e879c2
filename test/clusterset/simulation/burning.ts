/**
 * An exporter burns down: its relays and its API are gone for some minutes, and heartbeats that it had sent
 * before arrive late. Nothing of it may be added to an import meanwhile.
 */
import { silentAfterMs } from '#shared/contract/silence.ts';
import { burnsForMs } from './draw.ts';
import type { Member } from './member.ts';
import type { SetMember, SetState } from './set-state.ts';

/** Sweep looks once a minute. */
const noticedMs = silentAfterMs + 60_000;

export function planBurning({ scheduler, random, set }: SetState, members: readonly Member[]): void {
  if (!set.burns) return;
  const [first, ...others] = members.filter((m) => m.takesPart.exports && !m.isHostile);
  const member = random.pick(others.length > 0 ? others : [first as Member]);
  scheduler.after(random.between(40_000, 80_000), () => {
    member.say('burns down');
    member.burntAt = scheduler.now;
    member.killRelays();
    scheduler.after(burnsForMs, () => {
      member.say('is there again');
      member.burntAt = Number.POSITIVE_INFINITY;
      if (member.relays.all.length === 0) member.relays.start();
    });
  });
}

/** Has the cluster been gone for so long that the hub must have noticed? */
export const isKnownToBeGone = ({ burntAt }: Pick<SetMember, 'burntAt'>, nowMs: number): boolean =>
  nowMs - burntAt > noticedMs;
