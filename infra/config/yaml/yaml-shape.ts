import { Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Schema } from '../schema.ts';
import { resolveAliases } from './yaml-aliases.ts';

/**
 * Reads a YAML document into a typed value and collects every problem with the place it is at, instead of
 * stopping at the first. A shape returns undefined when it has reported a problem; `readYaml` then throws, so
 * that no half-read value gets out. Validators such as zod check values whose places are lost.
 */
export interface Shape<T> {
  (node: Node | null | undefined, at: At): T | undefined;
  /** The same for an editor, and for the types of the constructs' props. */
  readonly schema: Schema;
}

type Read<T> = (node: Node | null | undefined, at: At) => T | undefined;
export const shape = <T>(schema: Schema, read: Read<T>): Shape<T> => Object.assign(read, { schema });

export interface At {
  /** Dotted path, for the message. */
  readonly path: string;
  /** `what` is a whole sentence: the value given, and the values allowed. */
  readonly problem: (what: string, node?: Node | null) => undefined;
  /** Returns the number of problems of the whole document so far. */
  readonly problemCount: () => number;
  /** Returns true if the value is a placeholder for a later one (a token of the CDK). */
  readonly isLater?: (value: unknown) => boolean;
}

type Field<T> = {
  readonly shape: Shape<T>;
  readonly required: boolean;
  readonly fallback?: T;
  readonly doc: string;
};
export type Fields = { readonly [name: string]: Field<unknown> };
type Values<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export const required = <T>(inner: Shape<T>, doc = ''): Field<T> => ({ shape: inner, required: true, doc });
export const withDefault = <T>(inner: Shape<T>, fallback: T, doc = ''): Field<T> => ({
  shape: inner,
  required: false,
  fallback,
  doc,
});
export const optional = <T>(inner: Shape<T>, doc = ''): Field<T | undefined> => ({
  shape: inner as Shape<T | undefined>,
  required: false,
  doc,
});

export class YamlProblems extends Error {
  override readonly name = 'YamlProblems';
}

export function readYaml<T>(file: string, text: string, inner: Shape<T>): T {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    return readDocument(document, inner, (offset) => {
      const { line, col } = lines.linePos(offset);
      return `${file}:${line}:${col}`;
    });
  } catch (error) {
    // The parser and the shapes are recursive.
    if (error instanceof RangeError)
      throw new YamlProblems(
        `${file}:1:1: the file is nested too deeply: a dozen levels are enough for every key`,
      );
    throw error;
  }
}

/** The same for a value that a program gives, such as a construct's props. */
export function readValue<T>(
  name: string,
  value: unknown,
  inner: Shape<T>,
  isLater: (value: unknown) => boolean,
): T {
  return readDocument(new Document(value, { aliasDuplicateObjects: false }), inner, () => name, isLater);
}

function readDocument<T>(
  document: Document,
  inner: Shape<T>,
  place: (offset: number) => string,
  isLater?: (value: unknown) => boolean,
): T {
  const problems: { offset: number; text: string }[] = document.errors.map((e) => ({
    offset: e.pos[0],
    text: e.message,
  }));
  if (problems.length === 0) problems.push(...resolveAliases(document));
  const at = (path: string, node: Node | null | undefined): At => ({
    path,
    ...(isLater && { isLater }),
    problemCount: () => problems.length,
    problem(what, elsewhere) {
      problems.push({ offset: (elsewhere ?? node)?.range?.[0] ?? 0, text: path ? `${path}: ${what}` : what });
      return undefined;
    },
  });
  const value =
    problems.length === 0 ? inner(document.contents, withNodes(at, '', document.contents)) : undefined;
  if (problems.length > 0) {
    const places = problems
      .sort((a, b) => a.offset - b.offset)
      .map(({ offset, text: what }) => `${place(offset)}: ${what}`);
    throw new YamlProblems(places.join('\n'));
  }
  return value as T;
}

const children = new WeakMap<At, (step: string, node: Node | null | undefined) => At>();

function withNodes(
  make: (path: string, node: Node | null | undefined) => At,
  path: string,
  node: Node | null | undefined,
): At {
  const at = make(path, node);
  children.set(at, (step, child) =>
    withNodes(make, step.startsWith('[') || path === '' ? path + step : `${path}.${step}`, child ?? node),
  );
  return at;
}
const below = (at: At, step: string, node: Node | null | undefined): At => children.get(at)!(step, node);

/** `title`: the name of the type. */
export function fields<F extends Fields>(known: F, title?: string): Shape<Values<F>> {
  return shape(objectSchema(known, title), (node, at) => {
    if (!isMap(node))
      return at.problem(`${describe(node)}: a mapping with ${Object.keys(known).join(', ')} is needed`);
    const found = new Map<string, Node | null>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (Object.hasOwn(known, name)) found.set(name, value as Node | null);
      else
        at.problem(
          `unknown key ${JSON.stringify(name)}: ${Object.keys(known).join(', ')} are allowed`,
          key as Node,
        );
    }
    const result: { [name: string]: unknown } = {};
    for (const [name, field] of Object.entries(known)) {
      const child = found.get(name);
      if (found.has(name)) result[name] = field.shape(child, below(at, name, child));
      else if (field.required) at.problem(`${name} is missing`);
      else if (field.fallback !== undefined) result[name] = field.fallback;
    }
    return result as Values<F>;
  });
}

function objectSchema(known: Fields, title: string | undefined): Schema {
  const entries = Object.entries(known);
  const needed = entries.filter(([, field]) => field.required).map(([name]) => name);
  return {
    ...(title && { title }),
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, described(field)])),
    ...(needed.length > 0 && { required: needed }),
    additionalProperties: false,
  };
}

/** The key's own sentence before that of its values. */
function described({ shape: { schema }, doc, fallback }: Field<unknown>): Schema {
  const description = [
    doc,
    schema.description && (doc ? `Allowed: ${schema.description}.` : schema.description),
  ]
    .filter(Boolean)
    .join(' ');
  return {
    ...schema,
    ...(description && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
}

/** A mapping whose key `type` selects one of the shapes. */
export function byType<S extends { readonly [type: string]: Shape<unknown> }>(
  shapes: S,
): Shape<{ [K in keyof S]: S[K] extends Shape<infer T> ? T : never }[keyof S]> {
  return shape<{ [K in keyof S]: S[K] extends Shape<infer T> ? T : never }[keyof S]>(
    { oneOf: Object.values(shapes).map((each) => each.schema) },
    (node, at) => {
      const type = isMap(node) ? node.get('type') : undefined;
      const chosen = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
      if (chosen) return chosen(node, at) as never;
      return at.problem(
        `type is ${JSON.stringify(type) ?? 'missing'}: ${Object.keys(shapes).join(', ')} are allowed`,
        isMap(node) ? (node.get('type', true) ?? null) : node,
      );
    },
  );
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return shape({ type: 'array', items: item.schema }, (node, at) => {
    if (isScalar(node) && node.value === null) return [];
    if (!isSeq(node)) return at.problem(`${describe(node)}: a list is needed`);
    return node.items.map((child, i) => item(child as Node, below(at, `[${i}]`, child as Node)) as T);
  });
}

/** A list, or one word in its place. */
export function listOr<T, W extends string>(inner: Shape<readonly T[]>, word: W): Shape<readonly T[] | W> {
  return shape({ oneOf: [inner.schema, { const: word }] }, (node, at) => {
    if (isScalar(node) && node.value === word) return word;
    return isSeq(node) ? inner(node, at) : at.problem(`${describe(node)}: a list, or ${word}, is needed`);
  });
}

/** `allowed` describes the values that `test` accepts; `test` may return the value in another form. */
export function text<T extends string = string>(
  allowed: string,
  test: (value: string) => boolean | T,
  schema: Schema = {},
): Shape<T> {
  return shape({ type: 'string', description: allowed, ...schema }, (node, at) => {
    if (!isScalar(node) || typeof node.value !== 'string')
      return at.problem(`${describe(node)}: ${allowed} is needed`);
    if (at.isLater?.(node.value)) return node.value as T;
    const verdict = test(node.value);
    if (verdict === false) return at.problem(`${JSON.stringify(shorten(node.value))} is not ${allowed}`);
    return verdict === true ? (node.value as T) : verdict;
  });
}

/** A value on which the templates depend, so it can't be a placeholder. */
export const known = <T>(inner: Shape<T>): Shape<T> =>
  shape(inner.schema, (node, at) =>
    isScalar(node) && at.isLater?.(node.value)
      ? at.problem('a token is given: the value must be known at the synthesis')
      : inner(node, at),
  );

export const literal = <T extends string>(value: T): Shape<T> =>
  known(text<T>(JSON.stringify(value), (v) => v === value, { const: value, description: undefined }));
export const oneOf = <T extends string>(...values: readonly T[]): Shape<T> =>
  known(
    text<T>(`one of ${values.join(', ')}`, (v) => values.includes(v as T), {
      enum: values,
      description: undefined,
    }),
  );

export const integer = (from: number, to: number): Shape<number> =>
  known(
    shape({ type: 'integer', minimum: from, maximum: to }, (node, at) =>
      isScalar(node) &&
      typeof node.value === 'number' &&
      Number.isInteger(node.value) &&
      node.value >= from &&
      node.value <= to
        ? node.value
        : at.problem(`${describe(node)}: a whole number from ${from} to ${to} is needed`),
    ),
  );

export const flag: Shape<boolean> = shape({ type: 'boolean' }, (node, at) =>
  isScalar(node) && typeof node.value === 'boolean'
    ? node.value
    : at.problem(`${describe(node)}: true or false is needed`),
);

const shorten = (value: string): string => (value.length > 80 ? `${value.slice(0, 77)}...` : value);

export function describe(node: Node | null | undefined): string {
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  return isScalar(node) && node.value !== null ? shorten(JSON.stringify(node.value)) : 'nothing';
}
