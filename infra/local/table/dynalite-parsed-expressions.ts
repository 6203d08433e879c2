import { createRequire } from 'node:module';

type Named = { readonly [name: string]: unknown };

interface Context {
  readonly attrNames?: Named;
  readonly attrVals?: Named;
  /** The parser deletes the names and values that the expression uses. */
  readonly unusedAttrNames: Record<string, true>;
  readonly unusedAttrVals: Record<string, true>;
}

export interface Parser {
  parse(expression: string, options: { readonly context: Context }): unknown;
}

interface Parsed {
  /** The parser's result with a Placeholder for each value of the request. */
  readonly result: unknown;
  readonly usedNames: readonly string[];
  readonly usedValues: readonly string[];
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * The program has some tens of expressions. A client that writes values into its expressions has more, so
 * their number is bounded.
 */
const maxKept = 1_000;

/** Expressions whose result depends on the values as well as on their types. */
const dependsOnValues = /between|attribute_type/i;

/** Keeps parsed expressions. dynalite would parse them for each request, which takes a third of its time. */
export function keepParsedExpressions(): void {
  const inDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
  for (const parser of ['./db/conditionParser.js', './db/updateParser.js'])
    keepParsed(inDynalite(parser) as Parser);
}

/**
 * Makes the parser keep its results. The same expression with values of the same types gets a copy with its
 * own values. Errors are not kept.
 */
export function keepParsed(parser: Parser): void {
  const kept = new Map<string, Parsed>();
  const { parse } = parser;
  parser.parse = (expression, options) => {
    if (dependsOnValues.test(expression)) return parse(expression, options);
    const { context } = options;
    const key = JSON.stringify([expression, context.attrNames, typesOf(context.attrVals)]);
    const known = kept.get(key);
    if (known) {
      forget(context, known);
      return withValues(known.result, (part) =>
        part instanceof Placeholder ? context.attrVals?.[part.name] : undefined,
      );
    }
    // The expression gets fresh sets, because earlier expressions of the request have already removed their
    // names and values.
    const unusedAttrNames = allOf(context.attrNames);
    const unusedAttrVals = allOf(context.attrVals);
    const result = parse(expression, {
      ...options,
      context: { ...context, unusedAttrNames, unusedAttrVals },
    });
    // The parser returns an error as text.
    if (typeof result === 'string') return result;
    const usedNames = Object.keys(context.attrNames ?? {}).filter((name) => !(name in unusedAttrNames));
    const usedValues = Object.keys(context.attrVals ?? {}).filter((name) => !(name in unusedAttrVals));
    forget(context, { usedNames, usedValues });
    const names = new Map(
      Object.entries(context.attrVals ?? {}).map(([name, value]) => [value, new Placeholder(name)]),
    );
    if (kept.size >= maxKept) kept.clear();
    kept.set(key, { result: withValues(result, (part) => names.get(part)), usedNames, usedValues });
    return result;
  };
}

const allOf = (named: Named | undefined): Record<string, true> =>
  Object.fromEntries(Object.keys(named ?? {}).map((name) => [name, true]));

function forget(context: Context, { usedNames, usedValues }: Pick<Parsed, 'usedNames' | 'usedValues'>): void {
  for (const name of usedNames) delete context.unusedAttrNames[name];
  for (const name of usedValues) delete context.unusedAttrVals[name];
}

const typesOf = (values: Named | undefined): readonly (readonly string[])[] =>
  Object.entries(values ?? {}).map(([name, value]) => [name, ...Object.keys(value ?? {})]);

/**
 * Returns a copy, because dynalite changes its parsed expressions. A part that `replace` maps to a value is
 * replaced by it.
 */
function withValues(part: unknown, replace: (part: unknown) => unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const replaced = replace(part);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(part)) return part.map((each) => withValues(each, replace));
  const copy = Object.create(Object.getPrototypeOf(part)) as Record<string, unknown>;
  for (const [name, each] of Object.entries(part)) copy[name] = withValues(each, replace);
  return copy;
}
