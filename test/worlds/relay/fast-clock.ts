import type { Clock } from '#functions/relay/runtime/clock.ts';

/** A day in five minutes: the relay's seconds are a few milliseconds here. */
export const speed = 300;

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

const origin = Date.now();
let elapsedMs = 0;
/** In the order of their calls. */
const timers = new Set<Timer>();
let ticking: NodeJS.Timeout | undefined;

/**
 * A clock that goes by turns of this process's event loop, a millisecond each at least. A process that a busy
 * machine leaves waiting gets no turns, so that its clock stands still as well: no timer ends before the
 * server in the same process could have answered.
 */
export const fastClock: Clock = {
  now: () => origin + elapsedMs,
  monotonic: () => elapsedMs,
  after(ms, callback) {
    if (ms <= 0) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = { dueMs: elapsedMs + ms, callback };
    timers.add(timer);
    ticking ??= setInterval(tick, 1);
    return () => void timers.delete(timer);
  },
  random: Math.random,
};

function tick(): void {
  elapsedMs += speed;
  const due = [...timers].filter(({ dueMs }) => dueMs <= elapsedMs).sort((a, b) => a.dueMs - b.dueMs);
  for (const timer of due) if (timers.delete(timer)) timer.callback();
  if (timers.size > 0) return;
  clearInterval(ticking);
  ticking = undefined;
}

/** Resolves after this time of the relay's clock. */
export const relayTime = (ms: number): Promise<void> =>
  new Promise((resolve) => void fastClock.after(ms, resolve));
