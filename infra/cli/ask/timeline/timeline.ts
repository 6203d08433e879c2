/**
 * The way of a pod to an endpoint, step by step: what is known of it from the pod, the slices and the hub's
 * record. Pure.
 */
import { spanText } from '#infra/cli/ask/history/sentences.ts';

/** In the order of the way. docs/use/why-not-an-endpoint.md explains them. */
export const stepNames = [
  'Created',
  'Scheduled',
  'PodIP',
  'ContainersReady',
  'ReadinessGate',
  'Ready',
  'Seen',
  'Stored',
  'Run',
  'Written',
  'Served',
] as const;
export type StepName = (typeof stepNames)[number];

export interface Step {
  readonly step: StepName;
  readonly state: 'done' | 'waits' | 'unknown';
  /** ms since the epoch. Undefined if it is not known, or has not happened. */
  readonly atMs?: number | undefined;
  /** A clause. */
  readonly text: string;
}

export interface Timeline {
  readonly pod: string;
  readonly steps: readonly Step[];
  /** One sentence without a full stop: where the time went, or what it waits for. */
  readonly summary: string;
}

export const done = (step: StepName, text: string, atMs?: number): Step => ({
  ...{ step, state: 'done', text },
  ...(atMs !== undefined && { atMs }),
});
export const waits = (step: StepName, text: string): Step => ({ step, state: 'waits', text });
export const unknownStep = (step: StepName, text: string): Step => ({ step, state: 'unknown', text });

export function timelineOf(pod: string, given: readonly Step[]): Timeline {
  const steps = given.toSorted((a, b) => stepNames.indexOf(a.step) - stepNames.indexOf(b.step));
  return { pod, steps, summary: summaryOf(steps) };
}

/** Times of kubelet and of the API server are whole seconds, and each has its own clock. */
export function sinceLast(steps: readonly Step[], step: Step): number | undefined {
  if (step.atMs === undefined) return undefined;
  const before = steps.slice(0, steps.indexOf(step)).flatMap(({ atMs }) => atMs ?? []);
  return before.length === 0 ? undefined : Math.max(0, step.atMs - Math.max(...before));
}

function summaryOf(steps: readonly Step[]): string {
  const waiting = steps.find(({ state }) => state === 'waits');
  // A Service may publish pods that are not ready.
  const isServed = steps.some(({ step, state }) => step === 'Served' && state === 'done');
  if (waiting && !isServed) return `it waits: ${waiting.text}`;
  const gaps = steps.flatMap((step) => {
    const gapMs = sinceLast(steps, step);
    return gapMs === undefined ? [] : [{ step, gapMs }];
  });
  const longest = gaps.toSorted((a, b) => b.gapMs - a.gapMs)[0];
  const known = steps.flatMap(({ atMs }) => atMs ?? []);
  const wholeMs = known.length === 0 ? 0 : Math.max(...known) - Math.min(...known);
  if (!longest || wholeMs === 0) return 'no time between its steps is known';
  return `${spanText(wholeMs)} in all, of which ${spanText(longest.gapMs)} until ${longest.step.text}`;
}
