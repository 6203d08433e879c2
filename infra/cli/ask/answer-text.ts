/** The first lines of an answer: can the Service be reached, and if not, why and what to do next. */

import type { Cause } from '#infra/cli/ask/answer/cause.ts';
import { someNames } from '#infra/cli/ask/answer/named-pods.ts';
import type { Line } from '#infra/cli/terminal/print-answer.ts';

const causeStyles = { bad: 'bad', warning: 'warning', note: undefined } as const;

export const causeText = (cause: Cause): string => `${whoseText(cause)}${cause.text}`;

/** The worst cause, for a list. Empty without one that deserves a look. */
export function worstCause(causes: readonly Cause[]): string {
  const worst = causes.find(({ weight }) => weight !== 'note');
  return worst ? causeText(worst) : '';
}

export const causeLines = (causes: readonly Cause[]): readonly Line[] =>
  causes.flatMap((cause): readonly Line[] => {
    const text = `  ${causeText(cause)}`;
    const style = causeStyles[cause.weight];
    return [style ? { text, style } : text, ...(cause.next ? [`      next: ${cause.next}`] : [])];
  });

/** A cause of ports names its pods itself. */
function whoseText({ pods, code }: Cause): string {
  if (pods.length === 0 || namesPods.has(code)) return '';
  return pods.length === 1
    ? `pod ${pods[0]}: `
    : `${pods.length.toLocaleString('en')} pods (${someNames(pods)}): `;
}

const namesPods: ReadonlySet<Cause['code']> = new Set([
  'NoMatchingPort',
  'PortNotDeclared',
  'SelectorMismatch',
  'SeveralWorkloads',
  'SharedAddress',
]);
