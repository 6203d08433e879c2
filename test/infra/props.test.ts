import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import { configSchema, propsText } from '#infra/config/schema-text.ts';
import { statementsOf } from './fleet.ts';

/** Without what the formatter decides. */
const words = (text: string): string => text.replace(/([:(])\s*\|/g, '$1').replace(/\s+/g, '');

it('the types of the props are those of clusters.yaml (npm run props writes them)', () => {
  expect(words(readFileSync('infra/aws/constructs/props.ts', 'utf8'))).toBe(words(propsText()));
});

it('every prop and attribute has a comment of whole sentences', () => {
  const names = [
    'constructs/props',
    'constructs/fleet-hub-props',
    'constructs/fleet-cluster',
    'constructs/imported-hub',
    'stages/snapshot-table',
  ];
  const members = names.flatMap((name) => {
    const [interfaces = ''] = readFileSync(`infra/aws/${name}.ts`, 'utf8').split(/^export class /m);
    const lines = interfaces.split('\n');
    return lines.flatMap((line, i) => {
      const member = /^ +readonly (\w+)\??:/.exec(line)?.[1];
      const begin = lines.slice(0, i).findLastIndex((each) => each.includes('/**'));
      const doc = lines[i - 1]?.endsWith('*/')
        ? lines
            .slice(begin, i)
            .join(' ')
            .replace(/\s*(\/\*\*|\*\/|\s\*\s)\s*(\*\s)?/g, ' ')
        : '';
      return member === undefined ? [] : [{ name, member, text: doc.replace(/@default.*/, '').trim() }];
    });
  });
  expect(members.length).toBeGreaterThan(100);
  // Some begin with a value, such as `gradual`.
  expect(members.filter(({ text }) => !/^([A-Z]|`|docs\/|\[\]).* .*\.$/.test(text))).toEqual([]);
});

it('the schema for editors has every key of the example, with a sentence and the default', () => {
  const schema = configSchema() as {
    properties: {
      hub: { properties: object };
      clusters: { items: { properties: object; required: string[] } };
    };
  };
  expect(schema.properties.hub.properties).toMatchObject({
    rollout: {
      enum: ['gradual', 'at-once'],
      default: 'gradual',
      description: expect.stringContaining('a tenth a minute'),
    },
  });
  expect(schema.properties.clusters.items).toMatchObject({
    required: ['id', 'relay'],
    additionalProperties: false,
  });
  const undescribed = Object.entries({
    ...schema.properties.hub.properties,
    ...schema.properties.clusters.items.properties,
  }).filter(([, value]) => !(value as { description?: string }).description);
  expect(undescribed.map(([name]) => name)).toEqual([]);
});

const relay = { identity: { type: 'pod-identity', clusterName: 'c' } } as const;
const api = {
  url: 'https://api.example.com',
  auth: { type: 'secret', secretArn: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:s-AbCdEf' },
} as const;
const stack = () => new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S');

it('props follow the rules of clusters.yaml, and a mistake names the construct and the allowed values', () => {
  expect(() => new FleetHub(stack(), 'Hub', { logRetention: 15 as RetentionDays })).toThrow(
    /^FleetHub S\/Hub: hub\.logRetentionDays: 15 is not a retention/,
  );
  const scope = stack();
  const hub = new FleetHub(scope, 'Hub');
  expect(() => new FleetCluster(scope, 'A', { hub, id: 'Shop', relay })).toThrow(
    /^FleetCluster S\/A: id: "Shop" is not 1 to 32 of a-z/,
  );
  expect(() => new FleetCluster(scope, 'B', { hub, id: 'b', mode: 'active', relay })).toThrow(
    /there is no api to write to/,
  );
});

it('in one stack a cluster’s queues are consumed after the aliases that consume them exist', () => {
  const scope = stack();
  const hub = new FleetHub(scope, 'Hub');
  new FleetCluster(scope, 'A', { hub, id: 'a', relay });
  const template = Template.fromStack(scope);
  const aliases = Object.keys(template.findResources('AWS::Lambda::Alias'));
  expect(aliases).toHaveLength(1);
  const mappings = Object.values(template.findResources('AWS::Lambda::EventSourceMapping'));
  expect(mappings.map((mapping) => mapping.DependsOn)).toEqual([
    expect.arrayContaining(aliases),
    expect.arrayContaining(aliases),
  ]);
});

describe('a cluster of the same app', () => {
  const statements = (scope: Stack, role: string) =>
    statementsOf(Template.fromStack(scope), role).filter(
      ({ Action }) => Action === 'secretsmanager:GetSecretValue',
    );
  const { secretArn } = api.auth;

  it('a cluster gives the hub the rights for it, unless it is in `clusters`', () => {
    const scope = stack();
    const hub = new FleetHub(scope, 'Hub', { clusters: [{ id: 'known', api, relay }] });
    new FleetCluster(scope, 'Known', { hub, id: 'known', api, relay });
    const own = { ...api, auth: { ...api.auth, secretArn: `${secretArn}2` } };
    new FleetCluster(scope, 'Other', { hub, id: 'other', api: own, relay });
    for (const role of ['HubWorker', 'HubSweep'])
      expect(statements(scope, role).map(({ Resource }) => Resource)).toEqual([
        secretArn,
        own.auth.secretArn,
      ]);
  });

  it('a pattern covers the clusters, and the hub has its right without them', () => {
    const scope = stack();
    const pattern = secretArn.replace(/s-AbCdEf$/, '*');
    const hub = new FleetHub(scope, 'Hub', { access: [pattern] });
    new FleetCluster(scope, 'A', { hub, id: 'a', api, relay });
    expect(statements(scope, 'HubWorker').map(({ Resource }) => Resource)).toEqual([pattern]);
  });

  it('a cluster is refused if the hub has another one with its id', () => {
    const scope = stack();
    const hub = new FleetHub(scope, 'Hub');
    new FleetCluster(scope, 'A', { hub, id: 'a', relay });
    expect(() => new FleetCluster(scope, 'B', { hub, id: 'a', relay })).toThrow(
      /^FleetCluster S\/B: the hub SHub\w+ has a FleetCluster with the id a already/,
    );
  });

  it('a cluster is refused if all clusters together break a rule, or need more rights than a role may have', () => {
    const scope = stack();
    const hub = new FleetHub(scope, 'Hub', { lambdaConcurrencyLimit: 20 });
    for (const id of ['a', 'b']) new FleetCluster(scope, id, { hub, id, relay });
    expect(() => new FleetCluster(scope, 'c', { hub, id: 'c', relay })).toThrow(
      /^FleetCluster S\/c: the concurrency of 3 clusters adds up to 24 executions/,
    );

    const many = new FleetHub(scope, 'Many', { lambdaConcurrencyLimit: 1_000_000 });
    const add = (id: string) => {
      const own = { ...api, auth: { ...api.auth, secretArn: `${secretArn}${id.repeat(100)}` } };
      return new FleetCluster(scope, `Many${id}`, { hub: many, id, api: own, relay });
    };
    const ids = Array.from({ length: 300 }, (_, i) => `c${i}`);
    expect(() => ids.forEach(add)).toThrow(/fill 11 policies, and IAM lets a role have 10/);
  });
});

it('two hubs without a name deploy beside each other in one account and region', () => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const scopes = ['Platform', 'Canary'].map((id) => new Stack(app, id));
  for (const scope of scopes)
    new FleetCluster(scope, 'ShopDev', { hub: new FleetHub(scope, 'Hub'), id: 'shop-dev', relay });
  const names = scopes.map((scope) => {
    const { Resources } = Template.fromStack(scope).toJSON() as {
      Resources: { [id: string]: { Type: string; Properties?: object } };
    };
    const physical = ({ Properties = {} }: { Properties?: object }) =>
      Object.entries(Properties).flatMap(([key, value]) =>
        /^(Role|Queue|Dashboard|LogGroup|)Name$/.test(key) ? [JSON.stringify(value)] : [],
      );
    return new Set(
      Object.values(Resources).flatMap((resource) =>
        resource.Type === 'AWS::Lambda::Alias' ? [] : physical(resource),
      ),
    );
  });
  for (const each of names) expect(each.size).toBeGreaterThan(15);
  expect([...names[0]!].filter((name) => names[1]!.has(name))).toEqual([]);
});
