/** Label selectors, as apimachinery's pkg/labels matches and prints them. */
import type { Labels } from '../labels.ts';

/** As upstream's selection.Operator. */
export type Operator = '=' | '==' | 'in' | '!=' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  /** Without duplicates, and sorted. */
  readonly values: readonly string[];
}

/** `spec.selector` of a Service, or requirements that it cannot express: only an annotation has these. */
export type Selector = Labels | readonly Requirement[];

/** A pod without the label meets such a requirement. */
export const isNegative = ({ operator }: Requirement): boolean =>
  operator === '!=' || operator === 'notin' || operator === '!';

export const isSetBased = (selector: Selector | null | undefined): selector is readonly Requirement[] =>
  Array.isArray(selector);

/** A nil selector matches nothing, an empty one everything (PK-10). */
export function selectorMatches(
  selector: Selector | null | undefined,
  labels: Labels | null | undefined,
): boolean {
  if (!selector) return false;
  if (isSetBased(selector)) return selector.every((requirement) => requirementMatches(requirement, labels));
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}

export function requirementMatches(
  { key, operator, values }: Requirement,
  labels: Labels | null | undefined,
): boolean {
  const value = labels?.[key];
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const [is, bound] = [int64(value), int64(values[0])];
      if (is === undefined || bound === undefined) return false;
      return operator === 'gt' ? is > bound : is < bound;
    }
  }
}

/** A number as Go's strconv.ParseInt reads it, or undefined. */
export function int64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return undefined;
  const number = BigInt(text.replace(/^\+/, ''));
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

/** Every requirement must be met. */
export const requirementsOf = (selector: Selector): readonly Requirement[] =>
  isSetBased(selector)
    ? selector
    : Object.entries(selector).map(([key, value]) => ({ key, operator: '=', values: [value] }));

/** Text from which the parser makes the same selector: the value of a request's `labelSelector`. */
export const selectorText = (selector: Selector): string =>
  requirementsOf(selector).map(requirementText).join(',');

export function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

/** The same requirements; nil and empty are the same. */
export function sameSelectors(a: Selector | null | undefined, b: Selector | null | undefined): boolean {
  if (a === b) return true;
  const [textA, textB] = [a, b].map((selector) =>
    requirementsOf(selector ?? {})
      .map(requirementText)
      .sort()
      .join(),
  );
  return textA === textB;
}
