import type { Schema } from '#infra/config/schema.ts';
import { configSchema } from '#infra/config/schema-text.ts';
import { code, page, table } from './markdown.ts';

type Row = readonly string[];

/** Keys of alternatives, such as the kinds of credentials, follow each other with the value that selects them. */
function rowsOf(schema: Schema, path: string): readonly Row[] {
  if (schema.items) return rowsOf(schema.items, `${path}[]`);
  if (schema.oneOf) return schema.oneOf.flatMap((each) => rowsOf(each, `${path}${alternativeOf(each)}`));
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = path ? `${path}.${key}` : key;
    return [
      [code(name), defaultOf(value, schema.required?.includes(key) ?? false), meaningOf(value)],
      ...rowsOf(value, name),
    ];
  });
}

const alternativeOf = ({ properties }: Schema): string => {
  const type = properties?.['type']?.const;
  return type ? `(${type})` : '';
};

const defaultOf = ({ default: value }: Schema, isRequired: boolean): string =>
  isRequired ? '**required**' : value === undefined ? '' : code(JSON.stringify(value));

function meaningOf({ description = '', enum: values, minimum, maximum }: Schema): string {
  const range = [minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`]
    .filter(Boolean)
    .join(' ');
  if (values) return `${description} Allowed: ${values.map(code).join(', ')}.`;
  return range ? `${description} Allowed: ${range}.` : description;
}

export const clustersYamlPage = (): string =>
  page('clusters.yaml', 'infra/config', [
    '`fleet-endpoints config schema` prints the JSON Schema of the file, for editors. `fleet-endpoints config check` checks a file. `[]` is an item of a list; `(eks)` is an alternative with this `type`.',
    table(['key', 'default', 'meaning'], rowsOf(configSchema() as Schema, '')),
  ]);
