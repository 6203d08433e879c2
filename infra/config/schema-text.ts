/**
 * The shape of clusters.yaml in two further languages: a JSON Schema for editors, and the types of the
 * constructs' props.
 */
import { configShape } from './config-shape.ts';
import { propNameOf, type Schema } from './schema.ts';

export function configSchema(): object {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'clusters.yaml of fleet-endpoints',
    ...configShape.schema,
  };
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === 'cdk' ? undefined : value)));
}

/** Keys of clusters.yaml that a construct has from its stack, or in another form (FleetHubProps). */
const notInProps: readonly string[] = ['name', 'account', 'region', 'vpc'];

/** TypeScript: an interface for each object with a title. infra/aws/constructs/props.ts is this text. */
export function propsText(): string {
  const interfaces = new Map<string, string>();
  typeText(configShape.schema, '', interfaces);
  const all = [...interfaces.values()].join('\n\n');
  const modules = [...new Set(all.match(/(?<=: )[a-z]+(?=\.[A-Z])/g))].sort();
  return [
    '/** The props of the constructs: what clusters.yaml has. Made from infra/config by `npm run props`; test/infra/props.test.ts compares. */',
    [
      "import type { Duration } from 'aws-cdk-lib';",
      ...modules.map((name) => `import type * as ${name} from 'aws-cdk-lib/aws-${name}';`),
    ].join('\n'),
    all,
  ].join('\n\n');
}

function typeText(schema: Schema, indent: string, interfaces: Map<string, string>): string {
  if (schema.cdk) return schema.cdk.type;
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
  if (schema.type === 'array')
    return `readonly ${grouped(typeText(schema.items ?? {}, indent, interfaces))}[]`;
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'object')
    return schema.properties ? bodyText(schema, indent, interfaces) : '{ readonly [key: string]: unknown }';
  return schema.type ?? 'unknown';
}

const grouped = (text: string): string => (text.includes('|') ? `(${text})` : text);

function bodyText(
  { title, properties = {}, required = [] }: Schema,
  indent: string,
  interfaces: Map<string, string>,
): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).flatMap(([key, schema]) => {
    if (title === 'HubInput' && notInProps.includes(key)) return [];
    const name = propNameOf(key, schema);
    const type = `${typeText(schema, inner, interfaces)}${schema.cdk && schema.type === 'string' && name === key ? ' | string' : ''}`;
    const member = (memberName: string, later: boolean, doc: string, value: string): string =>
      `${inner}/** ${doc} */\n${inner}readonly ${memberName}${later ? '?' : ''}: ${value};`;
    const sentences = `${sentencesOf(schema)}${fallbackText(key, schema)}`;
    if (!/Arn$/.test(key)) return [member(name, !required.includes(key), sentences, type)];
    return [
      member(name, true, sentences, type),
      member(key, true, `The ARN may be given instead of ${name}.`, 'string'),
    ];
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

/** The type of the CDK defines the allowed values. */
const sentencesOf = ({ description = '', cdk }: Schema): string =>
  cdk ? description.replace(/ Allowed: .*$/, '') : description;

/** The properties of an object have their own defaults. */
function fallbackText(name: string, { default: fallback, properties, cdk }: Schema): string {
  if (fallback === undefined || properties) return '';
  const unit = /Seconds$|Days$/.exec(name)?.[0].toLowerCase();
  return ` @default ${cdk?.type === 'Duration' ? `Duration.${unit}(${fallback})` : `${JSON.stringify(fallback)}${cdk ? ` ${unit}` : ''}`}`;
}
