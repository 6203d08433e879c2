/** `explain` by the hub's snapshot and history. */
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { explanationData } from '#infra/cli/ask/explanation-data.ts';
import type { Then } from '#infra/cli/ask/history/then.ts';
import { addressesData } from '#infra/cli/ask/history-data.ts';
import { ofPod, thenLines } from '#infra/cli/ask/history-text.ts';
import { serviceListLines } from '#infra/cli/ask/lists/service-list.ts';
import { hubTimeline } from '#infra/cli/ask/timeline/hub-timeline.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { follow } from '#infra/cli/terminal/follow.ts';
import { type Line, linesAsData, type OutputFormat, printLines } from '#infra/cli/terminal/print-answer.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { timeMs } from '#infra/cli/terminal/when.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { printingOf } from './arguments/output-option.ts';
import { listOf, serviceOf } from './arguments/service-argument.ts';
import type { LiveChoice } from './live-explanation.ts';
import { printExplanation, printTimeline } from './print-explanation.ts';

export interface ChoiceWithHub extends LiveChoice {
  readonly at?: string;
}

/** Throws a UsageError for unknown names, and for a time that the history cannot answer. */
export async function explainByHub(
  { table, now }: Hub,
  [chosen, service, pod]: readonly (string | undefined)[],
  options: ChoiceWithHub,
): Promise<void> {
  const { at, watch, timeline, namespace, notReady: isNotReadyOnly = false } = options;
  const printing = printingOf(options);
  const { format } = printing;
  const list = await listOf(table, chosen, service, options);
  if (list) {
    if (at !== undefined || watch || timeline !== undefined)
      throw new UsageError('--at, --watch and --timeline need a service: CLUSTER NAMESPACE/SERVICE');
    const asked = { ...list, isNotReadyOnly, now: now(), format };
    return printLines(await serviceListLines(table, asked), printing);
  }
  const key = await serviceOf(table, chosen, service, namespace);
  if (timeline !== undefined) return printTimeline(await hubTimeline(table, key, timeline, now()), printing);
  if (at !== undefined) {
    const nowMs = now();
    const then = await explainThen(table, key, timeMs('--at', at, nowMs), nowMs);
    return printLines(addressLines(key, ofPod(then, pod), format), printing);
  }
  const shown = printExplanation(printing, isNotReadyOnly, pod);
  const print = async (): Promise<void> => {
    // By the hub's clock, as the times of runs are.
    const { input, explanation } = await explainWithInput(table, key, now(), pod);
    shown(explanation, explanationData(input, explanation), now());
  };
  return watch ? follow(print) : print();
}

function addressLines(key: ServiceKey, then: Then, format: OutputFormat | undefined): readonly Line[] {
  if (format === 'json' || format === 'yaml') return linesAsData(addressesData(key, then), format);
  if (format === 'name') return [...new Set(then.addresses.flatMap((a) => (a.pod ? [`pod/${a.pod}`] : [])))];
  return thenLines(then, `${key.cluster} ${key.namespace}/${key.name}`);
}
