/** The shape of clusters.yaml in two further languages: a JSON Schema for editors, and the types of the constructs' props. */
import { configShape } from './config-shape.ts';
import type { Schema } from './schema.ts';

export function configSchema(): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'clusters.yaml of fleet-endpoints', ...configShape.schema };
}

/** TypeScript: an interface for each object with a title. infra/constructs/props.ts is this text. */
export function propsText(): string {
  const interfaces = new Map<string, string>();
  typeText(configShape.schema, '', interfaces);
  return [
    '/** The props of the constructs: what clusters.yaml has. Made from infra/config by `npm run props`; test/infra/props.test.ts compares. */',
    ...interfaces.values(),
  ].join('\n\n');
}

function typeText(schema: Schema, indent: string, interfaces: Map<string, string>): string {
  if (schema.title) {
    if (!interfaces.has(schema.title)) {
      interfaces.set(schema.title, '');
      interfaces.set(schema.title, `export interface ${schema.title} ${bodyText(schema, '', interfaces)}`);
    }
    return schema.title;
  }
  if (schema.const !== undefined) return `'${schema.const}'`;
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (schema.oneOf) return schema.oneOf.map((each) => typeText(each, indent, interfaces)).join(' | ');
  if (schema.type === 'array') return `readonly ${grouped(typeText(schema.items ?? {}, indent, interfaces))}[]`;
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'object') return schema.properties ? bodyText(schema, indent, interfaces) : '{ readonly [key: string]: unknown }';
  return schema.type ?? 'unknown';
}

const grouped = (text: string): string => (text.includes('|') ? `(${text})` : text);

function bodyText({ properties = {}, required = [] }: Schema, indent: string, interfaces: Map<string, string>): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const fallback = schema.default === undefined ? '' : ` @default ${JSON.stringify(schema.default)}`;
    const doc = schema.description || fallback ? `${inner}/** ${`${schema.description ?? ''}${fallback}`.trim()} */\n` : '';
    const later = required.includes(name) ? '' : '?';
    const type = typeText(schema, inner, interfaces);
    return `${doc}${inner}readonly ${name}${later}: ${type}${later && ' | undefined'};`;
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}
