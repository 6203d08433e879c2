/** Tags by which an inventory finds whose a resource is, and the warning of alarms that nobody hears. */
import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import { fleetOf } from './fleet.ts';

/** Types that take no tags. */
const tagless: readonly string[] = [
  'AWS::IAM::Policy',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Version',
  'AWS::Logs::QueryDefinition',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'Custom::FleetEndpointsCluster',
  'Custom::FleetEndpointsRemoval',
];

type Tags = { readonly [key: string]: string };

/** Resources that could have the tags and lack one. A type has tags as a list or as a map. */
function untagged(template: Template, tags: Tags): readonly string[] {
  const resources = Object.entries(
    template.toJSON()['Resources'] as { readonly [id: string]: { readonly Type: string } },
  );
  const has = (text: string): boolean =>
    Object.entries(tags).every(
      ([Key, Value]) => text.includes(JSON.stringify({ Key, Value })) || text.includes(`"${Key}":"${Value}"`),
    );
  return resources
    .filter(([, { Type }]) => !tagless.includes(Type))
    .flatMap(([id, resource]) => (has(JSON.stringify(resource)) ? [] : [id]));
}

describe('tags', () => {
  it('every resource of a hub and its table that takes tags names the hub', () => {
    const { hubTemplate, snapshotTemplate } = fleetOf();
    for (const template of [hubTemplate, snapshotTemplate])
      expect(untagged(template, { 'fleet-endpoints:hub': 'Fleet' })).toEqual([]);
  });

  it.each(['eks', 'own'])(
    'every resource of the cluster %s that takes tags names the cluster and its hub',
    (id) => {
      expect(
        untagged(fleetOf().clusterTemplate(id), {
          'fleet-endpoints:hub': 'Fleet',
          'fleet-endpoints:cluster': id,
        }),
      ).toEqual([]);
    },
  );

  it('resources of one stack with a hub and two clusters name their own cluster', () => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Platform');
    const hub = new FleetHub(stack, 'Hub', { name: 'Fleet' });
    for (const id of ['a', 'b'])
      new FleetCluster(stack, id, {
        hub,
        id,
        relay: { identity: { type: 'pod-identity', clusterName: id } },
      });
    const template = Template.fromStack(stack);
    expect(untagged(template, { 'fleet-endpoints:hub': 'Fleet' })).toEqual([]);
    const queuesOf = (Value: string) =>
      Object.keys(
        template.findResources('AWS::SQS::Queue', {
          Properties: { Tags: Match.arrayWith([{ Key: 'fleet-endpoints:cluster', Value }]) },
        }),
      );
    expect(queuesOf('a')).toHaveLength(4);
    expect(queuesOf('b')).toHaveLength(4);
  });
});

describe('alarms without a topic', () => {
  function warnings(topics: readonly ('pageTopic' | 'ticketTopic')[]): readonly string[] {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Platform');
    new FleetHub(stack, 'Hub', {
      ...Object.fromEntries(topics.map((name) => [name, new Topic(stack, name)])),
    });
    return Annotations.fromStack(stack)
      .findWarning('*', Match.stringLikeRegexp('nobody hears'))
      .map(({ entry }) => /\w+TopicArn/.exec(String(entry.data))?.[0] ?? '');
  }

  it('the synthesis warns of each severity whose alarms have no action', () => {
    expect(warnings([])).toEqual(['pageTopicArn', 'ticketTopicArn']);
    expect(warnings(['pageTopic'])).toEqual(['ticketTopicArn']);
    expect(warnings(['pageTopic', 'ticketTopic'])).toEqual([]);
  });
});
