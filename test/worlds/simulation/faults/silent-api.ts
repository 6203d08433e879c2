/**
 * The API server takes calls and answers none for a while. Workers run services in the invocation that has stored
 * their changes: heartbeats must not wait behind these. It is drawn separately, so other worlds keep their
 * seeds.
 */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { ordinaryLimits } from './draw-limits.ts';
import { faultless, type Profile } from './profile.ts';

const share = 0.02;
const beginsAfterMs = 15_000;

/** `calm`: none, unless a mutant asks for it. */
export function drawSilentApi(seed: number, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0x51e7);
  return calm || !random.chance(share)
    ? {}
    : silentApiWorld(random.between(20_000, 90_000), random.between(1, 3));
}

/** Few workers, and changes of many services. */
export const silentApiWorld = (silentApiMs: number, containers: number): Partial<Profile> => ({
  ...faultless,
  ...{ watchDelayMs: 50, syncReceives: 50 },
  ...{ namespaces: 2, services: 8, pods: 16, changes: 120, containers, silentApiMs },
  ...{ faultsUntilMs: beginsAfterMs + silentApiMs + 15_000 },
  limits: { ...ordinaryLimits, relay: { ...ordinaryLimits.relay, heartbeatMs: 5_000 } },
});

interface Around {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly startAt: number;
}

/** A call of that time either never reaches the server, or is answered after it. */
export function silentApi(silentMs: number, { scheduler, random, startAt }: Around) {
  const until = startAt + beginsAfterMs + silentMs;
  const isSilent = (): boolean =>
    silentMs > 0 && scheduler.now >= startAt + beginsAfterMs && scheduler.now < until;
  const held =
    (call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (!isSilent()) return call(...args);
      const answer = random.chance(0.5) ? call(...args) : undefined;
      answer?.catch(() => {});
      await new Promise<void>((resolve) => scheduler.at(until, resolve));
      if (!answer) throw new ClusterApiError('the connection was closed', { status: 0 });
      return answer;
    };
  return (api: ClusterApi): ClusterApi =>
    silentMs === 0
      ? api
      : (Object.fromEntries(
          Object.entries(api).map(([name, call]) => [name, held(call.bind(api))]),
        ) as unknown as ClusterApi);
}
