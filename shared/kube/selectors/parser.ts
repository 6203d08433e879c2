/**
 * Parses the text of a label selector by the rules and with the errors of apimachinery's labels.Parse, which
 * `kubectl -l` uses: `app in (a,b),tier!=db,!canary,team`.
 */
import { labelKeyErrors, labelValueErrors } from './label-errors.ts';
import { int64, type Operator, type Requirement } from './label-selector.ts';

export type ParsedRequirements =
  | { readonly requirements: readonly Requirement[]; readonly error?: never }
  | { readonly requirements?: never; readonly error: string };

/** Sorted by key. No requirements: the selector matches everything. */
export function parseLabelSelector(text: string): ParsedRequirements {
  try {
    const requirements = parse({ tokens: tokensOf(text), position: 0 });
    return { requirements: requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)) };
  } catch (error) {
    if (error instanceof SyntaxFault) return { error: error.message };
    throw error;
  }
}

class SyntaxFault extends Error {}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt';
const operatorOf: { readonly [K in Token['kind']]?: Operator } = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

interface Cursor {
  readonly tokens: readonly Token[];
  position: number;
}

function parse(cursor: Cursor): readonly Requirement[] {
  const requirements: Requirement[] = [];
  if (lookahead(cursor).kind === 'end') return requirements;
  expect(lookahead(cursor), ['identifier', '!'], "!, identifier, or 'end of string'");
  for (;;) {
    requirements.push(parseRequirement(cursor));
    const after = consume(cursor);
    if (after.kind === 'end') return requirements;
    expect(after, [','], "',' or 'end of string'");
    expect(lookahead(cursor), ['identifier', '!'], "identifier after ','");
  }
}

function expect({ kind, literal }: Token, allowed: readonly Token['kind'][], text: string): void {
  if (!allowed.includes(kind)) throw new SyntaxFault(`found '${literal}', expected: ${text}`);
}

function parseRequirement(cursor: Cursor): Requirement {
  try {
    const { key, operator: unary } = parseKeyAndInferOperator(cursor);
    if (unary) return newRequirement(key, unary, []);
    const operator = parseOperator(cursor);
    const isSet = operator === 'in' || operator === 'notin';
    return newRequirement(key, operator, isSet ? parseValues(cursor) : [parseExactValue(cursor)]);
  } catch (error) {
    if (error instanceof SyntaxFault) throw new SyntaxFault(`unable to parse requirement: ${error.message}`);
    throw error;
  }
}

function parseKeyAndInferOperator(cursor: Cursor): {
  readonly key: string;
  readonly operator: Operator | undefined;
} {
  const first = consume(cursor);
  const { kind, literal: key } = first.kind === '!' ? consume(cursor) : first;
  if (kind !== 'identifier') throw new SyntaxFault(`found '${key}', expected: identifier`);
  const errors = labelKeyErrors(key);
  if (errors.length > 0) throw new SyntaxFault(invalid(key, errors));
  if (first.kind === '!') return { key, operator: '!' };
  const next = lookahead(cursor).kind;
  return { key, operator: next === 'end' || next === ',' ? 'exists' : undefined };
}

function parseOperator(cursor: Cursor): Operator {
  const { kind, literal } = consume(cursor, 'operator');
  const operator = operatorOf[kind];
  if (!operator) throw new SyntaxFault(`found '${literal}', expected: ${binaryOperators}`);
  return operator;
}

/** `(x,y,z)` */
function parseValues(cursor: Cursor): readonly string[] {
  const open = consume(cursor);
  if (open.kind !== '(') throw new SyntaxFault(`found '${open.literal}' expected: '('`);
  const { kind, literal } = lookahead(cursor);
  if (kind !== 'identifier' && kind !== ',' && kind !== ')')
    throw new SyntaxFault(`found '${literal}', expected: ',', ')' or identifier`);
  const values = kind === ')' ? [''] : parseIdentifiersList(cursor);
  consume(cursor);
  return [...new Set(values)].sort();
}

/** Up to the closing parenthesis, which stays. A missing identifier is the empty value. */
function parseIdentifiersList(cursor: Cursor): readonly string[] {
  const values: string[] = [];
  for (;;) {
    const { kind, literal } = consume(cursor);
    const next = lookahead(cursor);
    expect({ kind, literal }, ['identifier', ','], "',', or identifier");
    if (kind === 'identifier') {
      values.push(literal);
      expect(next, [')', ','], "',' or ')'");
    } else if (values.length === 0 || [')', ','].includes(next.kind)) values.push('');
    if (next.kind === ')') return values;
  }
}

function parseExactValue(cursor: Cursor): string {
  const next = lookahead(cursor);
  if (next.kind === 'end' || next.kind === ',') return '';
  const { kind, literal } = consume(cursor);
  if (kind !== 'identifier') throw new SyntaxFault(`found '${literal}', expected: identifier`);
  return literal;
}

/** `in` and `notin` are names too, except in the place of an operator. */
function lookahead({ tokens, position }: Cursor, context: 'operator' | 'values' = 'values'): Token {
  const token = tokens[position] ?? end;
  const isWord = token.kind === 'in' || token.kind === 'notin';
  return context === 'values' && isWord ? { ...token, kind: 'identifier' } : token;
}

function consume(cursor: Cursor, context?: 'operator'): Token {
  const token = lookahead(cursor, context);
  cursor.position++;
  return token;
}

function newRequirement(key: string, operator: Operator, values: readonly string[]): Requirement {
  const isNumeric = operator === 'gt' || operator === 'lt';
  const errors = [
    ...values.flatMap((value, i) =>
      isNumeric && int64(value) === undefined
        ? [`values[${i}]: ${invalid(value, ["for 'Gt', 'Lt' operators, the value must be an integer"])}`]
        : [],
    ),
    ...values.flatMap((value, i) => {
      const found = labelValueErrors(value);
      return found.length > 0 ? [`values[${i}][${key}]: ${invalid(value, found)}`] : [];
    }),
  ];
  if (errors.length > 1) throw new SyntaxFault(`[${errors.join(', ')}]`);
  if (errors[0] !== undefined) throw new SyntaxFault(errors[0]);
  return { key, operator, values };
}

const invalid = (value: string, errors: readonly string[]): string =>
  `Invalid value: ${JSON.stringify(value)}: ${errors.join('; ')}`;

const symbols = [')', ',', '!', '==', '=', '>', 'in', '<', '!=', 'notin', '('] as const;

/** A token of a label selector, as apimachinery's pkg/labels scans it. */
interface Token {
  readonly kind: (typeof symbols)[number] | 'identifier' | 'end';
  /** As it is in the text; empty at the end. */
  readonly literal: string;
}

const end: Token = { kind: 'end', literal: '' };

/** The last token is the end. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [literal] of text.matchAll(/==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g)) {
    const kind = symbols.find((symbol) => symbol === literal) ?? 'identifier';
    tokens.push({ kind, literal });
  }
  return [...tokens, end];
}
