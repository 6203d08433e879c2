/** A question that an agent may ask: what it takes, and what the answer looks like. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtFile, installation, isCheckout } from '#infra/installation.ts';

export interface Schema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: object };
  readonly required: readonly string[];
  readonly additionalProperties?: boolean;
}

/** The tool's input schema has checked them: those that it requires are there. */
export interface Arguments {
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  readonly pod?: string;
  readonly at: string;
  readonly since?: string;
  readonly address?: string;
  readonly notReadyOnly?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: object;
  /** Rejects with a UsageError, whose message names the existing things, for an unknown one. */
  readonly answer: (given: Arguments) => Promise<object>;
}

const text = (description: string): object => ({ type: 'string', minLength: 1, description });

const known = {
  cluster: text('Id of a cluster of the hub.'),
  namespace: text('Namespace of the Service.'),
  service: text('Name of the Service.'),
  pod: text('Only of this Pod, also if the Service does not select it.'),
  address: text('Only changes of this IP.'),
  at: text('A past time: 2026-03-01T14:03:00Z, 14:03 (UTC, the last one) or 20m (ago).'),
  since: text('Only the last 90s, 30m, 2h or 3d.'),
  notReadyOnly: {
    type: 'boolean',
    description: 'Only Services that cannot be reached, or that deserve a look.',
  },
} as const;
type ArgumentName = keyof typeof known;

export const takes = (required: readonly ArgumentName[], optional: readonly ArgumentName[] = []): Schema => ({
  type: 'object',
  properties: Object.fromEntries([...required, ...optional].map((name) => [name, known[name]])),
  required,
  additionalProperties: false,
});

/** The generated schema of an answer, as `-o json` prints it (docs/reference/schemas). */
export function answerSchema(name: string): object {
  const file = `${name}.schema.json`;
  const path = isCheckout
    ? join(installation.root, 'docs', 'reference', 'schemas', file)
    : builtFile(join('schemas', file));
  const { $schema: _, ...schema } = JSON.parse(readFileSync(path, 'utf8'));
  return schema;
}

/** MCP's answers are objects. */
export const listSchema = (of: string, name: string): Schema => ({
  type: 'object',
  properties: { [of]: answerSchema(name) },
  required: [of],
  additionalProperties: false,
});
