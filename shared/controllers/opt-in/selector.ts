/**
 * The selector in a Service's annotation (docs/use/opt-in.md): a label selector of Kubernetes, and so more than
 * spec.selector can say.
 */

import type { Labels } from '#shared/kube/labels.ts';
import type { Operator, Requirement, Selector } from '#shared/kube/selectors/label-selector.ts';
import { parseLabelSelector } from '#shared/kube/selectors/parser.ts';

export type ParsedSelector =
  | { readonly selector: Selector; readonly error?: never }
  | { readonly selector?: never; readonly error: string };

/** Said of a Service with a set-based selector, before its hand-back. */
export const withoutEquivalent =
  'the annotation is set-based, and no spec.selector selects the same pods: for a hand-back give them a label of their own, and select by it';

const maxRequirements = 16;
const maxLength = 1024;

/** Parses `app=web,tier in (front,edge),!canary`. A selector that spec.selector can express has its form. */
export function parseSelector(text: string): ParsedSelector {
  if (text.length > maxLength)
    return { error: `it has ${text.length} characters, and ${maxLength} are allowed` };
  if (text.trim() === '') return { error: 'it is empty: 1 to 16 requirements, such as app=web,!canary' };
  const { requirements, error } = parseLabelSelector(text);
  if (error !== undefined) return { error: shortened(error) };
  if (requirements.length > maxRequirements)
    return { error: `it has ${requirements.length} requirements, and ${maxRequirements} are allowed` };
  return { selector: asPairs(requirements) ?? requirements };
}

/** Returns undefined for a set-based selector. */
function asPairs(requirements: readonly Requirement[]): Labels | undefined {
  const pairs = new Map<string, string>();
  for (const { key, operator, values } of requirements) {
    const [value, ...others] = values;
    const isPair = isEquality.has(operator) && value !== undefined && others.length === 0;
    if (!isPair || (pairs.get(key) ?? value) !== value) return undefined;
    pairs.set(key, value);
  }
  return Object.fromEntries(pairs);
}

/** Upstream's errors repeat the text. They end up in Events, whose messages have at most 1,024 characters. */
const shortened = (error: string): string => {
  const text = error.replace(/\S{81,}/g, (word) => `${word.slice(0, 80)}…`);
  return (text.length > maxError ? `${text.slice(0, maxError)}…` : text).toWellFormed();
};
const maxError = 600;

const isEquality: ReadonlySet<Operator> = new Set(['=', '==', 'in']);
