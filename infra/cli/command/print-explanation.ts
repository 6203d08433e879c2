/** Prints an explanation in the format that was asked for, and with --watch again at each change. */

import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import type { ExplanationData } from '#infra/cli/ask/explanation-data.ts';
import { type TimelineData, timelineLines } from '#infra/cli/ask/timeline/timeline.ts';
import { linesAsData, type Printing, printLines, printNews } from '#infra/cli/terminal/print-answer.ts';

export function printTimeline(data: TimelineData, printing: Printing): void {
  const { format } = printing;
  const isData = format === 'json' || format === 'yaml';
  printLines(isData ? linesAsData(data, format) : timelineLines(data), printing);
}

/**
 * Returns a function that prints nothing if only the time has changed since its last call. `pod`: the only one
 * that was asked for.
 */
export function printExplanation(printing: Printing, isNotReadyOnly: boolean, pod: string | undefined) {
  const { format } = printing;
  const print = printNews(printing);
  return (explanation: Explanation, data: ExplanationData, nowMs: number): void => {
    const shown = isNotReadyOnly
      ? { ...data, pods: data.pods.filter((p) => p.relation === 'selected' && !p.ready) }
      : data;
    const lines = () =>
      format === 'name'
        ? shown.pods.map((p) => `pod/${p.name}`)
        : format === 'json' || format === 'yaml'
          ? linesAsData(shown, format)
          : explanationLines(explanation, { isWide: format === 'wide' || pod !== undefined, isNotReadyOnly });
    // The time of the answer alone does not count as a change.
    print({ ...shown, time: '' }, nowMs, lines);
  };
}
