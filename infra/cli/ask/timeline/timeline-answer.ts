/**
 * A timeline as data for programs, whose schema is generated from the type (infra/package/answer-schemas.ts),
 * and as lines for a terminal.
 */
import { apiVersion, type Count, type Time } from '#infra/cli/ask/explanation-data.ts';
import { spanText } from '#infra/cli/ask/history/sentences.ts';
import { columns, type Line } from '#infra/cli/terminal/print-answer.ts';
import { type Step, type StepName, sinceLast, type Timeline } from './timeline.ts';

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

export interface TimelineOf {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly timeline: Timeline;
  /** What is not known, and how to learn it. */
  readonly remarks: readonly string[];
}

export const timelineData = ({ cluster, namespace, name, timeline, remarks }: TimelineOf): TimelineData => ({
  ...{ apiVersion, kind: 'Timeline', cluster, namespace, service: name, pod: timeline.pod },
  message: timeline.summary,
  steps: timeline.steps.map((step) => ({
    step: step.step,
    state: step.state,
    time: step.atMs === undefined ? null : new Date(step.atMs).toISOString(),
    afterMs: sinceLast(timeline.steps, step) ?? null,
    message: step.text,
  })),
  remarks,
});

const styles = { done: undefined, waits: 'bad', unknown: 'faint' } as const;

export function timelineLines({ cluster, namespace, name, timeline, remarks }: TimelineOf): readonly Line[] {
  const { pod, steps, summary } = timeline;
  const rows = columns(
    steps.map((step) => {
      const gapMs = sinceLast(steps, step);
      return [
        step.atMs === undefined ? '-' : new Date(step.atMs).toISOString(),
        gapMs === undefined ? '' : `+${spanText(gapMs)}`,
        step.step,
        step.text,
      ];
    }),
  );
  return [
    `${cluster} ${namespace}/${name}, pod ${pod}: ${summary}`,
    ...rows.map((row, i): Line => {
      const style = styles[(steps[i] as Step).state];
      return style ? { text: `  ${row}`, style } : `  ${row}`;
    }),
    ...remarks,
  ];
}
