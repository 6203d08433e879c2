import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

/**
 * Reads a YAML document into a typed value and collects every problem with the place it is at, instead of stopping at the first.
 * A shape returns undefined when it has reported a problem; `readYaml` then throws, so that no half-read value gets out.
 */
export type Shape<T> = (node: Node | null | undefined, at: At) => T | undefined;

export interface At {
  /** Dotted path, for the message. */
  readonly path: string;
  /** `what` is a whole sentence: the value given, and the values allowed. */
  readonly problem: (what: string, node?: Node | null) => undefined;
}

type Field<T> = { readonly shape: Shape<T>; readonly required: boolean; readonly fallback?: T };
type Values<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export const required = <T>(shape: Shape<T>): Field<T> => ({ shape, required: true });
export const withDefault = <T>(shape: Shape<T>, fallback: T): Field<T> => ({ shape, required: false, fallback });
export const optional = <T>(shape: Shape<T>): Field<T | undefined> => ({ shape, required: false });

export class YamlProblems extends Error {
  override readonly name = 'YamlProblems';
}

export function readYaml<T>(file: string, text: string, shape: Shape<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // What an alias stands for takes its place; one that stands for nothing is an error of the document already.
  visit(document, { Alias: (_key, alias) => alias.resolve(document) });
  const problems: { offset: number; text: string }[] = document.errors.map((e) => ({ offset: e.pos[0], text: e.message }));
  const at = (path: string, node: Node | null | undefined): At => ({
    path,
    problem(what, elsewhere) {
      problems.push({ offset: (elsewhere ?? node)?.range?.[0] ?? 0, text: path ? `${path}: ${what}` : what });
      return undefined;
    },
  });
  const value = problems.length === 0 ? shape(document.contents, withNodes(at, '', document.contents)) : undefined;
  if (problems.length > 0) {
    const places = problems
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, text: what }) => {
        const { line, col } = lines.linePos(offset);
        return `${file}:${line}:${col}: ${what}`;
      });
    throw new YamlProblems(places.join('\n'));
  }
  return value as T;
}

const children = new WeakMap<At, (step: string, node: Node | null | undefined) => At>();

function withNodes(make: (path: string, node: Node | null | undefined) => At, path: string, node: Node | null | undefined): At {
  const at = make(path, node);
  children.set(at, (step, child) => withNodes(make, step.startsWith('[') || path === '' ? path + step : `${path}.${step}`, child ?? node));
  return at;
}
const below = (at: At, step: string, node: Node | null | undefined): At => children.get(at)!(step, node);

export function fields<F extends { readonly [name: string]: Field<unknown> }>(known: F): Shape<Values<F>> {
  return (node, at) => {
    if (!isMap(node)) return at.problem(`${describe(node)}: a mapping with ${Object.keys(known).join(', ')} is needed`);
    const found = new Map<string, Node | null>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (Object.hasOwn(known, name)) found.set(name, value as Node | null);
      else at.problem(`unknown key ${JSON.stringify(name)}: ${Object.keys(known).join(', ')} are allowed`, key as Node);
    }
    const result: { [name: string]: unknown } = {};
    for (const [name, field] of Object.entries(known)) {
      const child = found.get(name);
      if (found.has(name)) result[name] = field.shape(child, below(at, name, child));
      else if (field.required) at.problem(`${name} is missing`);
      else if (field.fallback !== undefined) result[name] = field.fallback;
    }
    return result as Values<F>;
  };
}

/** A mapping whose key `type` selects one of the shapes. */
export function byType<S extends { readonly [type: string]: Shape<unknown> }>(
  shapes: S,
): Shape<{ [K in keyof S]: S[K] extends Shape<infer T> ? T : never }[keyof S]> {
  return (node, at) => {
    const type = isMap(node) ? node.get('type') : undefined;
    const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape) return shape(node, at) as never;
    return at.problem(
      `type is ${JSON.stringify(type) ?? 'missing'}: ${Object.keys(shapes).join(', ')} are allowed`,
      isMap(node) ? (node.get('type', true) ?? null) : node,
    );
  };
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return (node, at) => {
    if (isScalar(node) && node.value === null) return [];
    if (!isSeq(node)) return at.problem(`${describe(node)}: a list is needed`);
    return node.items.map((child, i) => item(child as Node, below(at, `[${i}]`, child as Node)) as T);
  };
}

/** `allowed` describes the values that `test` accepts; `test` may return the value in another form. */
export function text<T extends string = string>(allowed: string, test: (value: string) => boolean | T): Shape<T> {
  return (node, at) => {
    if (!isScalar(node) || typeof node.value !== 'string') return at.problem(`${describe(node)}: ${allowed} is needed`);
    const verdict = test(node.value);
    if (verdict === false) return at.problem(`${JSON.stringify(shorten(node.value))} is not ${allowed}`);
    return verdict === true ? (node.value as T) : verdict;
  };
}

export const literal = <T extends string>(value: T): Shape<T> => text<T>(JSON.stringify(value), (v) => v === value);
export const oneOf = <T extends string>(...values: readonly T[]): Shape<T> => text<T>(`one of ${values.join(', ')}`, (v) => values.includes(v as T));

export function integer(from: number, to: number): Shape<number> {
  return (node, at) =>
    isScalar(node) && typeof node.value === 'number' && Number.isInteger(node.value) && node.value >= from && node.value <= to
      ? node.value
      : at.problem(`${describe(node)}: a whole number from ${from} to ${to} is needed`);
}

export const flag: Shape<boolean> = (node, at) =>
  isScalar(node) && typeof node.value === 'boolean' ? node.value : at.problem(`${describe(node)}: true or false is needed`);

export interface Mapping {
  readonly [key: string]: unknown;
}

/** A mapping whose meaning is another program's, as plain data. The rule's sentences are reported at it. */
export function mapping(what: string, rule: (value: Mapping) => readonly string[]): Shape<Mapping> {
  return (node, at) => {
    if (!isMap(node)) return at.problem(`${describe(node)}: ${what} is needed`);
    let aliases = 0;
    visit(node, { Alias: () => void aliases++ });
    if (aliases > 0) return at.problem(`${what} is needed in full: aliases (*name) are not followed here`);
    const value = node.toJSON() as Mapping;
    for (const sentence of rule(value)) at.problem(sentence);
    return value;
  };
}

/** The shape, then a rule about the whole; the rule's sentence is reported at the value. */
export function checked<T>(shape: Shape<T>, rule: (value: T) => string | undefined): Shape<T> {
  return (node, at) => {
    const value = shape(node, at);
    const broken = value === undefined ? undefined : rule(value);
    if (broken) at.problem(broken);
    return value;
  };
}

/** No two items with the same key; reported at the later one. */
export function unique<T>(shape: Shape<readonly T[]>, name: string, key: (item: T) => unknown): Shape<readonly T[]> {
  return (node, at) => {
    const items = shape(node, at);
    const seen = new Map<unknown, number>();
    items?.forEach((item, i) => {
      const k = item === undefined ? undefined : key(item);
      const first = seen.get(k);
      if (k === undefined) return;
      if (first !== undefined)
        at.problem(
          `[${i}].${name} ${JSON.stringify(k)} is also that of [${first}]: each must be used once`,
          isSeq(node) ? (node.items[i] as Node) : node,
        );
      else seen.set(k, i);
    });
    return items;
  };
}

const shorten = (value: string): string => (value.length > 80 ? `${value.slice(0, 77)}...` : value);

function describe(node: Node | null | undefined): string {
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  return isScalar(node) && node.value !== null ? shorten(JSON.stringify(node.value)) : 'nothing';
}
