import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { configSchema, propsText } from '#infra/config/schema-text.ts';
import { FleetCluster } from '#infra/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/constructs/fleet-hub.ts';

/** Without what the formatter decides. */
const words = (text: string): string => text.replace(/([:(])\s*\|/g, '$1').replace(/\s+/g, '');

it('the types of the props are those of clusters.yaml (npm run props writes them)', () => {
  expect(words(readFileSync('infra/constructs/props.ts', 'utf8'))).toBe(words(propsText()));
});

it('the schema for editors has every key of the example, with a sentence and the default', () => {
  const schema = configSchema() as { properties: { hub: { properties: object }; clusters: { items: { properties: object; required: string[] } } } };
  expect(schema.properties.hub.properties).toMatchObject({
    rollout: { enum: ['gradual', 'at-once'], default: 'gradual', description: expect.stringContaining('a tenth a minute') },
  });
  expect(schema.properties.clusters.items).toMatchObject({ required: ['id', 'relay'], additionalProperties: false });
  const undescribed = Object.entries({ ...schema.properties.hub.properties, ...schema.properties.clusters.items.properties }).filter(
    ([, value]) => !(value as { description?: string }).description,
  );
  expect(undescribed.map(([name]) => name)).toEqual([]);
});

const relay = { identity: { type: 'existing-role', roleArn: 'arn:aws:iam::111122223333:role/relay' } } as const;
const api = {
  url: 'https://api.example.com',
  auth: { type: 'secret', secretArn: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf' },
} as const;
const stack = () => new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S');

it('props follow the rules of clusters.yaml, and a mistake names the construct and the allowed values', () => {
  expect(() => new FleetHub(stack(), 'Hub', { logRetentionDays: 15 })).toThrow(/^FleetHub S\/Hub: hub\.logRetentionDays: 15 is not a retention/);
  const scope = stack();
  const hub = new FleetHub(scope, 'Hub');
  expect(() => new FleetCluster(scope, 'A', { hub, id: 'Shop', relay })).toThrow(/^FleetCluster S\/A: id: "Shop" is not 1 to 32 of a-z/);
  expect(() => new FleetCluster(scope, 'B', { hub, id: 'b', mode: 'active', relay })).toThrow(/there is no api to write to/);
});

it('in one stack a cluster’s queues are consumed after the aliases that consume them exist', () => {
  const scope = stack();
  const hub = new FleetHub(scope, 'Hub');
  new FleetCluster(scope, 'A', { hub, id: 'a', relay });
  const template = Template.fromStack(scope);
  const aliases = Object.keys(template.findResources('AWS::Lambda::Alias'));
  expect(aliases).toHaveLength(2);
  const mappings = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
  expect(mappings.map((mapping) => mapping.DependsOn)).toEqual([expect.arrayContaining(aliases), expect.arrayContaining(aliases)]);
});

it('a cluster whose credentials the hub may not read is refused at the synthesis', () => {
  const scope = stack();
  const hub = new FleetHub(scope, 'Hub', { clusters: [{ id: 'known', api, relay }] });
  new FleetCluster(scope, 'Known', { hub, id: 'known', api, relay });
  expect(() => new FleetCluster(scope, 'Other', { hub, id: 'other', api, relay })).toThrow(/has no right to its credentials: name it in `clusters`/);
});
