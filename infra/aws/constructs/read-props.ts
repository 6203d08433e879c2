/**
 * Reads props by the shapes of clusters.yaml. An object of the CDK becomes what the file has in its place: an
 * ARN, or a number of seconds or days.
 */
import { Token } from 'aws-cdk-lib';
import { type CdkForm, propertiesOf, propNameOf, type Schema } from '#infra/config/schema.ts';
import { readValue, type Shape, YamlProblems } from '#infra/config/yaml/yaml-shape.ts';

export const readProps = <T>(construct: string, props: unknown, shape: Shape<T>): T =>
  readValue(construct, inFile(props, shape.schema, construct, ''), shape, Token.isUnresolved);

type Fields = { readonly [name: string]: unknown };

function inFile(given: unknown, schema: Schema, construct: string, path: string): unknown {
  if (typeof given !== 'object' || given === null) return given;
  if (Array.isArray(given))
    return given.map((item, i) => inFile(item, schema.items ?? {}, construct, `${path}[${i}]`));
  const prototype = Object.getPrototypeOf(given);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new YamlProblems(
      `${construct}: ${path}: an object of the CDK is given: text, a number, a list or a mapping is needed`,
    );
  const known = Object.entries(propertiesOf(schema));
  const entries = Object.entries(given as Fields).map(([name, value]) => {
    const [key, form = {}] = known.find(([each, property]) => name === propNameOf(each, property)) ?? [
      name,
      propertiesOf(schema)[name],
    ];
    const below = path ? `${path}.${name}` : name;
    const isObject = form.cdk !== undefined && typeof value === 'object' && value !== null;
    return [
      key,
      isObject
        ? memberOf(value as Fields, form.cdk as CdkForm, construct, below)
        : inFile(value, form, construct, below),
    ];
  });
  return Object.fromEntries(entries);
}

function memberOf(given: Fields, { type, member = '' }: CdkForm, construct: string, path: string): unknown {
  const found = given[member];
  const value = typeof found === 'function' ? found.call(given) : found;
  if (value === undefined)
    throw new YamlProblems(`${construct}: ${path}: another object than ${type} is given`);
  return value;
}
