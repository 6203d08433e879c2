/**
 * Shapes that ask more than a type: rules about a whole value, about the items of a list, and another
 * program's mapping.
 */
import { isMap, isSeq, type Node, visit } from 'yaml';
import { describe, type Shape, shape } from './yaml-shape.ts';

export interface Mapping {
  readonly [key: string]: unknown;
}

/** A mapping whose meaning is another program's, as plain data. The rule's sentences are reported at it. */
export function mapping(what: string, rule: (value: Mapping) => readonly string[]): Shape<Mapping> {
  return shape({ type: 'object', description: what.replace(/,$/, '') }, (node, at) => {
    if (!isMap(node)) return at.problem(`${describe(node)}: ${what} is needed`);
    let aliases = 0;
    visit(node, { Alias: () => void aliases++ });
    if (aliases > 0) return at.problem(`${what} is needed in full: aliases (*name) are not followed here`);
    const value = node.toJSON() as Mapping;
    for (const sentence of rule(value)) at.problem(sentence);
    return value;
  });
}

/**
 * The shape, then a rule about the whole, if every part of it could be read. The rule's sentence is reported
 * at the value.
 */
export function checked<T>(inner: Shape<T>, rule: (value: T) => string | undefined): Shape<T> {
  return shape(inner.schema, (node, at) => {
    const before = at.problemCount();
    const value = inner(node, at);
    const broken = value === undefined || at.problemCount() > before ? undefined : rule(value);
    if (broken) at.problem(broken);
    return value;
  });
}

/** No two items with the same key; reported at the later one. */
export function unique<T>(
  inner: Shape<readonly T[]>,
  name: string,
  key: (item: T) => unknown,
): Shape<readonly T[]> {
  return shape(inner.schema, (node, at) => {
    const items = inner(node, at);
    const seen = new Map<unknown, number>();
    items?.forEach((item, i) => {
      const k = item === undefined ? undefined : key(item);
      const first = seen.get(k);
      if (k === undefined) return;
      const where = isSeq(node) ? (node.items[i] as Node) : node;
      if (first !== undefined)
        at.problem(
          `[${i}].${name} ${JSON.stringify(k)} is also that of [${first}]: each must be used once`,
          where,
        );
      else seen.set(k, i);
    });
    return items;
  });
}
