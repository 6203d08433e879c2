/** History as lines for a terminal. */
import type { RunText } from '#infra/cli/ask/history/sentences.ts';
import { exactTime, spanText } from '#infra/cli/ask/history/sentences.ts';
import type { AddressThen, GoneThen, Then } from '#infra/cli/ask/history/then.ts';
import type { Line } from '#infra/cli/terminal/print-answer.ts';
import type { HistoryRuns } from './history-service.ts';

export const historyLines = (
  { runs, remarks }: Pick<HistoryRuns, 'runs' | 'remarks'>,
  what: string,
): readonly Line[] => [
  ...(runs.length === 0 ? [`the history has no record of ${what}`] : runs.flatMap(runLines)),
  ...remarks,
];

export const runLines = ({ kind, headline, lines }: RunText): readonly Line[] => [
  kind === 'failed'
    ? { text: headline, style: 'bad' }
    : kind === 'held'
      ? { text: headline, style: 'warning' }
      : headline,
  ...lines.map((line) => `  ${line}`),
];

export function thenLines(
  { atMs, summary, addresses, gone, caveats, isKnown }: Then,
  what: string,
): readonly string[] {
  const listed = addresses.map((a) => `${addressText(a)}: ${a.state}${portsOf(a)}${sinceText(a, atMs)}`);
  const left = gone.map((a) => `${addressText(a)}: gone${sinceText(a, atMs)}`);
  return [
    `${what} at ${exactTime(atMs)}: ${summary}`,
    ...(listed.length > 0 ? ['', 'Addresses', ...listed.map((line) => `  ${line}`)] : []),
    ...(left.length > 0 ? ['', 'Gone', ...left.map((line) => `  ${line}`)] : []),
    ...(caveats.length > 0 ? ['', 'Not certain', ...caveats.map((line) => `  ${line}`)] : []),
    ...(isKnown ? ['', 'Not kept', `  ${notKept}`] : []),
  ];
}

const notKept = 'slices of other managers, which proxies use too';

/** Keeps the addresses of one pod, if one is asked for. The summary still describes the whole service. */
export const ofPod = (then: Then, pod: string | undefined): Then => ({
  ...then,
  addresses: then.addresses.filter((a) => pod === undefined || a.pod === pod),
  gone: then.gone.filter((a) => pod === undefined || a.pod === pod),
});

const addressText = ({ places, address, pod }: Pick<AddressThen, 'places' | 'address' | 'pod'>): string =>
  `${address}${pod ? ` (pod ${pod})` : ''} in ${places.join(' and ')}`;

const portsOf = ({ ports }: AddressThen): string => (ports === undefined ? '' : ` on ${ports}`);

function sinceText({ sinceMs, why }: Pick<AddressThen, 'sinceMs' | 'why'> | GoneThen, atMs: number): string {
  if (sinceMs === undefined) return ', as before the first record';
  return ` since ${exactTime(sinceMs)} (${spanText(atMs - sinceMs)} before)${why ? `: ${why}` : ''}`;
}
