/** Services whose annotation selects pods as no spec.selector can (docs/use/opt-in.md). */
import { describe, expect, it } from 'vitest';
import { withdraw } from '#infra/cli/act/opt-in-withdraw.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { objectKey } from '#shared/store/keys.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const text = 'app in (a, b), !canary';
const key = { cluster, namespace: 'default', name: 'svc' };
const beside = { mode: 'shadow', optIn: 'active' } as const;

function annotated(spec: object = { selector: undefined }): RawObject {
  const service = aService(spec);
  return { ...service, metadata: { ...service.metadata, annotations: { [annotationSelector]: text } } };
}

function labelled(i: number, labels: { readonly [key: string]: string }): RawObject {
  const pod = aPod(i);
  return { ...pod, metadata: { ...pod.metadata, labels } };
}

const addresses = ({ store }: HubWorld): readonly string[] =>
  [...addressesServed(store.list('EndpointSlice'))].sort();

async function started(): Promise<SmallCluster> {
  const given = [
    annotated(),
    labelled(0, { app: 'a' }),
    labelled(1, { app: 'b' }),
    labelled(2, { app: 'b', canary: 'yes' }),
    labelled(3, { app: 'c' }),
    labelled(4, {}),
  ];
  const small = await smallCluster(given, beside);
  await small.pass(8);
  return small;
}

describe('a Service with a set-based selector', () => {
  it('pods that meet every requirement are its addresses', async () => {
    const { world } = await started();
    expect(addresses(world)).toEqual(['10.1.0.1', '10.1.0.2']);
  });

  it('a label that comes, goes or changes lets a pod join or leave', async () => {
    const { world, pass } = await started();
    world.store.apply(labelled(0, { app: 'a', canary: '' }));
    world.store.apply(labelled(2, { app: 'b' }));
    world.store.apply(labelled(3, { app: 'a' }));
    await pass(8);
    expect(addresses(world)).toEqual(['10.1.0.2', '10.1.0.3', '10.1.0.4']);
  });

  it('explain shows each requirement that a pod does not meet', async () => {
    const { world } = await started();
    const { pods, groups } = await explain(world.table, key, world.now);
    expect(pods.map(({ pod, relation, slices }) => [pod, relation, slices[0]?.why])).toEqual([
      ['pod-0', 'selected', expect.stringContaining('Ready condition')],
      ['pod-1', 'selected', expect.stringContaining('Ready condition')],
      ['pod-2', 'near', 'selector !canary does not match label canary=yes'],
    ]);
    const asked = await explain(world.table, key, world.now, 'pod-3');
    expect(asked.pods[0]?.slices[0]?.why).toBe('selector app in (a,b) does not match label app=c');
    expect(JSON.stringify(groups)).toContain(`app in (a,b), !canary (annotation ${annotationSelector})`);
  });

  it('the guard asks the cluster by the selector before it believes a loss', async () => {
    const many = Array.from({ length: 60 }, (_, i) => labelled(i, { app: i % 2 ? 'a' : 'b' }));
    const { world, pass } = await smallCluster([annotated(), ...many], beside);
    await pass(8);
    for (let i = 0; i < 50; i++) await world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
    await world.runUntil(world.now + 30 * 60_000);
    world.store.apply({ ...annotated(), metadata: { ...annotated().metadata, labels: { touched: 'yes' } } });
    await pass(20);
    expect(addresses(world)).toHaveLength(60);
    expect(world.metrics.get('GuardedRemovals')).toBeGreaterThan(0);
  });

  it('a withdrawal says what the hand-back of such a Service needs', async () => {
    const { world } = await started();
    const record = (await readCluster(world.table, cluster)) as ClusterRecord;
    const options = { override: false, waitMs: 0, note: async () => {}, wake: async () => '' };
    await expect(withdraw({ table: world.table, now: () => world.now }, record, options)).rejects.toThrow(
      /Add their selectors first, .*default\/svc: the annotation is set-based, and no spec.selector selects/,
    );
  });

  it('beside a selector of its own the comparison has the pods of the annotation', async () => {
    const given = [annotated({}), labelled(0, { app: 'a' }), labelled(1, { app: 'c' })];
    const { world, pass } = await smallCluster(given, beside);
    await pass(8);
    world.store.apply(labelled(1, { app: 'b' }));
    await pass(60);
    const { differences } = await explain(world.table, key, world.now);
    expect(differences.join('\n')).toContain('missing in the cluster: IPv4 10.1.0.2');
  });
});
