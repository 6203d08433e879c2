/**
 * A stack of a cluster whose slices by opt-in would stay without a writer is not deleted, and a deletion that
 * is refused takes nothing of the cluster: it goes on with its queues, consumers and rights until the slices
 * are withdrawn.
 */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as eks from 'aws-cdk-lib/aws-eks-v2';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { applyRemovalGuard } from '#functions/register/apply-removal-guard.ts';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import { abandonOptIn, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { removalGuard } from '#shared/contract/registration-property.ts';
import { metaKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { fleetOf } from './fleet.ts';

const event = (RequestType: string, id = 'shop'): CloudFormationCustomResourceEvent =>
  ({
    RequestType,
    PhysicalResourceId: 'shop',
    ResourceProperties: { [removalGuard.property]: id },
  }) as unknown as CloudFormationCustomResourceEvent;

async function registered(set: object) {
  const table = memoryTable();
  await table.put({ ...metaKey('shop'), mode: 'shadow', ...set });
  return table;
}

describe('a cluster that opts in', () => {
  it.each([
    ['Services have slices by opt-in, whatever the switch', { annotated: '0 0 2 2' }],
    ['the hub writes them', { annotated: '2 0 2 0', optIn: 'active' }],
    ['the cluster is paused', { annotated: '2 0 2 0', optIn: 'active', mode: 'paused' }],
  ])('a cluster is not taken out while %s, unless an operator abandons them', async (_, set) => {
    const table = await registered(set);
    const refusal =
      /^shop stays registered: slices of 2 Services by opt-in would stay .*off --withdraw; .*off --abandon allows/;
    await expect(applyRemovalGuard(table, event('Delete'))).rejects.toThrow(refusal);
    await expect(applyRemovalGuard(table, event('Update', 'other'))).rejects.toThrow(refusal);
    expect(await applyRemovalGuard(table, event('Update'))).toBe('shop');
    await switchOptIn(table, 'shop', 'off', 1);
    await expect(applyRemovalGuard(table, event('Delete'))).rejects.toThrow(refusal);
    expect(await abandonOptIn(table, 'shop')).toBe(true);
    expect(await applyRemovalGuard(table, event('Delete'))).toBe('shop');
    expect(await applyRemovalGuard(table, event('Update', 'other'))).toBe('other');
  });

  it.each([
    ['no Service has slices by opt-in, though some are annotated', { annotated: '3 1 0 0' }],
    ['its relay does not count slices', { annotated: '3 1' }],
    ['it is taken out already', { annotated: '2 0 2 0', mode: 'draining' }],
  ])('a cluster is taken out if %s', async (_, set) => {
    expect(await applyRemovalGuard(await registered(set), event('Delete'))).toBe('shop');
  });

  it('a stack without a registered cluster is deleted', async () => {
    expect(await applyRemovalGuard(memoryTable(), event('Delete'))).toBe('shop');
    expect(await applyRemovalGuard(memoryTable(), event('Create'))).toBe('shop');
  });
});

interface Resource {
  readonly Type: string;
  readonly DependsOn?: string | readonly string[];
}

/** Resources that CloudFormation deletes before the guard, or at the same time. */
function notGuarded(template: Template): readonly string[] {
  const resources = template.toJSON()['Resources'] as { readonly [id: string]: Resource };
  const guarded = new Set(Object.keys(resources).filter((id) => resources[id]!.Type === removalGuard.type));
  for (const id of guarded) {
    const { DependsOn = [] } = resources[id]!;
    const named = JSON.stringify(resources[id]).matchAll(/"(?:Ref|Fn::GetAtt)":\[?"(\w+)/g);
    for (const other of [DependsOn, ...[...named].map(([, name = '']) => name)].flat())
      if (other in resources) guarded.add(other);
  }
  return Object.entries(resources).flatMap(([id, { Type }]) => (guarded.has(id) ? [] : [`${Type} ${id}`]));
}

describe('a stack that is deleted', () => {
  it.each(['eks', 'own'])('nothing goes before the guard in the stack of cluster %s', (id) => {
    expect(notGuarded(fleetOf().clusterTemplate(id))).toEqual([]);
  });

  it('a relay that CloudFormation has installed goes after the guard', () => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S');
    const hub = new FleetHub(stack, 'Hub');
    const serviceToken = 'arn:aws:lambda:eu-central-1:111122223333:function:kubectl';
    const kubectlProvider = eks.KubectlProvider.fromKubectlProviderAttributes(stack, 'Kubectl', {
      serviceToken,
    });
    const shop = new FleetCluster(stack, 'Shop', {
      hub,
      id: 'shop',
      relay: { identity: { type: 'pod-identity', clusterName: 'shop' } },
    });
    shop.installRelay(
      eks.Cluster.fromClusterAttributes(stack, 'Eks', { clusterName: 'shop', kubectlProvider, prune: false }),
      { image: 'relay:1' },
    );
    const left = notGuarded(Template.fromStack(stack));
    expect(left.filter((text) => text.includes(' Shop') || text.includes('KubernetesResource'))).toEqual([]);
  });
});
