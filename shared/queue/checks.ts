/** Checks of single values, from which the shape of each message is put together (parse.ts). */
import { isMap, isWellFormed } from '#shared/kube/api-validation.ts';
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';
import { printable } from './codec.ts';

/** Kubernetes allows no longer name. */
export const maxNameLength = 253;
/** A key is NAMESPACE/NAME. */
export const maxKeyLength = 2 * maxNameLength + 1;
/** More than fit into a message of SQS. */
const maxEntries = 20_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

/** Returns the reason against the value of a field, or undefined if it is valid. */
export type Check = (value: unknown, field: string) => string | undefined;
export type Checks<Field extends string = string> = { readonly [F in Field]-?: Check };

export const show = (value: unknown): string =>
  value === undefined ? 'missing' : printable(value).slice(0, 60);
export const needs = (isValid: (value: unknown) => boolean, needed: string): Check => {
  return (value, field) => (isValid(value) ? undefined : `${field} is ${show(value)}: ${needed}`);
};
export const optional = (check: Check): Check => {
  return (value, field) => (value === undefined ? undefined : check(value, field));
};

export const isText = (isValid: (text: string) => boolean) => {
  return (value: unknown): boolean => typeof value === 'string' && isValid(value);
};

/**
 * Checks a name or an id. A terminal would interpret control characters, and UTF-8 cannot encode lone
 * surrogates.
 */
export const text = (longest = maxNameLength, shortest = 1): Check =>
  needs(
    isText(
      (value) =>
        value.length >= shortest &&
        value.length <= longest &&
        !controlCharacter.test(value) &&
        isWellFormed(value),
    ),
    `text of ${shortest} to ${longest} characters without control characters and lone surrogates is needed`,
  );
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
export const count = needs(isCount, 'a whole number, 0 or more, is needed');
/** Clocks of tests have fractions. */
export const timeMs = needs(Number.isFinite, 'a time in ms since the epoch is needed');
export const version = needs(isResourceVersion, 'a resourceVersion of 1 to 39 digits is needed');
export const object = needs(isMap, 'an object is needed');
export const oneOf = (...allowed: readonly unknown[]): Check =>
  needs(
    (value) => allowed.includes(value),
    `${allowed.join(', ')} ${allowed.length === 1 ? 'is' : 'are'} allowed`,
  );
export const flag = optional(needs((value) => value === true, 'true is allowed'));

export function firstReason<T>(
  values: readonly T[],
  reasonAgainst: (value: T) => string | undefined,
): string | undefined {
  for (const value of values) {
    const reason = reasonAgainst(value);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

export const fields = (checks: Checks): Check => {
  const each = Object.entries(checks);
  return (value, what) =>
    object(value, what) ?? firstReason(each, ([field, check]) => check((value as AnyFields)[field], field));
};
export type AnyFields = { readonly [field: string]: unknown };

export const list = (check: Check): Check => {
  const isList = needs(
    (value) => Array.isArray(value) && value.length <= maxEntries,
    `a list of at most ${maxEntries} elements is needed`,
  );
  return (value, field) =>
    isList(value, field) ?? firstReason(value as unknown[], (element) => check(element, field));
};
