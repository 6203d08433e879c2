/**
 * The way of a pod to an endpoint, step by step: as data for programs, whose schema is generated from the type
 * (infra/package/answer-schemas.ts), and as lines for a terminal. Pure.
 */
import { apiVersion, type Count, type Time } from '#infra/cli/ask/answer/data-types.ts';
import { spanText } from '#infra/cli/ask/history/sentences.ts';
import { columns, type Line } from '#infra/cli/terminal/print-answer.ts';
import type { ServiceKey } from '#shared/store/keys.ts';

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

export const done = (step: StepName, text: string, atMs?: number): Step => ({
  ...{ step, state: 'done', text },
  ...(atMs !== undefined && { atMs }),
});
export const waits = (step: StepName, text: string): Step => ({ step, state: 'waits', text });

export interface TimelineData {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'Timeline';
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  readonly pod: string;
  /** Where the time went, or what the pod waits for. */
  readonly message: string;
  readonly steps: readonly StepData[];
  readonly remarks: readonly string[];
}

interface StepData {
  readonly step: StepName;
  readonly state: Step['state'];
  /** Null if it is not known, or has not happened. */
  readonly time: Time | null;
  /** Since the last step before it whose time is known. */
  readonly afterMs: Count | null;
  readonly message: string;
}

/** `remarks`: what is not known, and how to learn it. */
export function timelineOf(
  { cluster, namespace, name }: ServiceKey,
  pod: string,
  steps: readonly Step[],
  remarks: readonly string[],
): TimelineData {
  const inOrder = steps.toSorted((a, b) => stepNames.indexOf(a.step) - stepNames.indexOf(b.step));
  return {
    ...{ apiVersion, kind: 'Timeline', cluster, namespace, service: name, pod },
    message: summaryOf(inOrder),
    steps: inOrder.map((step) => ({
      step: step.step,
      state: step.state,
      time: step.atMs === undefined ? null : new Date(step.atMs).toISOString(),
      afterMs: sinceLast(inOrder, step) ?? null,
      message: step.text,
    })),
    remarks,
  };
}

/** Times of kubelet and of the API server are whole seconds, and each has its own clock. */
function sinceLast(steps: readonly Step[], step: Step): number | undefined {
  if (step.atMs === undefined) return undefined;
  const before = steps.slice(0, steps.indexOf(step)).flatMap(({ atMs }) => atMs ?? []);
  return before.length === 0 ? undefined : Math.max(0, step.atMs - Math.max(...before));
}

/** One sentence without a full stop. */
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

const styles = { done: undefined, waits: 'bad', unknown: 'faint' } as const;

export function timelineLines(data: TimelineData): readonly Line[] {
  const { cluster, namespace, service, pod, message, steps, remarks } = data;
  const rows = columns(
    steps.map(({ step, time, afterMs, message: text }) => [
      time ?? '-',
      afterMs === null ? '' : `+${spanText(afterMs)}`,
      step,
      text,
    ]),
  );
  return [
    `${cluster} ${namespace}/${service}, pod ${pod}: ${message}`,
    ...steps.map(({ state }, i): Line => {
      const [text, style] = [`  ${rows[i]}`, styles[state]];
      return style ? { text, style } : text;
    }),
    ...remarks,
  ];
}
