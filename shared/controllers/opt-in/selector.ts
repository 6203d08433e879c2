/**
 * The selector in a Service's annotation (docs/opt-in.md), as text with the expressiveness of spec.selector.
 */
import { isLabelValue, isQualifiedName } from '#shared/kube/api-validation.ts';
import type { Labels } from '#shared/kube/labels.ts';

export type ParsedSelector =
  | { readonly selector: Labels; readonly error?: never }
  | { readonly selector?: never; readonly error: string };

const maxPairs = 16;
const maxLength = 1024;
const allowed = 'key=value pairs with commas between them, 1 to 16, such as app=web,tier=front';

/** Parses `app=web, tier=front`. Set-based operators are not allowed. */
export function parseSelector(text: string): ParsedSelector {
  // Every allowed character is one byte.
  if (text.length > maxLength)
    return refused(`it has ${text.length} characters, and ${maxLength} are allowed`);
  if (text.trim() === '') return refused(`it is empty: ${allowed}`);
  const pairs = text.split(',');
  if (pairs.length > maxPairs) return refused(`it has ${pairs.length} pairs, and ${maxPairs} are allowed`);
  const selector = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair[equals + 1] === '=' || pair[equals - 1] === '!')
      return refused(`${quoted(pair.trim())} is not a pair: ${allowed}`);
    const [key, value] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
    if (!isQualifiedName(key)) return refused(`${quoted(key)} is not a label key`);
    if (!isLabelValue(value)) return refused(`${quoted(value)} is not a label value`);
    if (selector.has(key)) return refused(`the key ${quoted(key)} occurs twice`);
    selector.set(key, value);
  }
  return { selector: Object.fromEntries(selector) };
}

const refused = (error: string): ParsedSelector => ({ error });
const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
