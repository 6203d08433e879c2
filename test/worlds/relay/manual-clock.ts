import type { Clock } from '#functions/relay/runtime/clock.ts';

export interface ManualClock extends Clock {
  /** Lets that much time pass, timer by timer, and everything that each of them sets going. */
  advance(ms: number): Promise<void>;
}

export function manualClock(random: () => number = () => 0.5): ManualClock {
  let now = 1_000_000;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    monotonic: () => now,
    random,
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((t) => t !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        timers = timers.filter((t) => t !== next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = end;
    },
  };
}
