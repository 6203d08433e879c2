/**
 * The pods of an import are those of its exports alone: a selector or an annotation of a user on the derived
 * Service does not count.
 */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import {
  conditionsOf,
  exporter,
  imported,
  importer,
  namespace,
  object,
  pod,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const derived = derivedName('shop', 'web');
const derivedService = (world: SetWorld): RawObject => world.of('a').store.get('Service', 'shop', derived);
const served = (world: SetWorld): readonly string[] =>
  world
    .of('a')
    .store.list('EndpointSlice', 'shop')
    .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))
    .sort();

async function started(mode: 'shadow' | 'active' = 'shadow'): Promise<SetWorld> {
  const made = pod('other', '10.66.0.1');
  const other = {
    ...made,
    metadata: { ...made.metadata, labels: { app: 'other' } },
    spec: { nodeName: 'node-a', containers: [] },
  };
  const node = object('Node', { namespace: undefined, name: 'node-a', uid: 'n' });
  const world = await SetWorld.start({
    a: importer({ mode, given: [namespace(), node, other as RawObject] }),
    b: exporter('10.2.0'),
  });
  await switchOptIn(world.table, 'a', 'active', world.nowMs);
  await world.pass(60);
  expect(served(world)).toEqual(['10.2.0.1', '10.2.0.2']);
  return world;
}

it.each([
  ['annotation', { metadata: { annotations: { [annotationSelector]: 'app=other', mine: 'stays' } } }],
  ['selector', { spec: { selector: { app: 'other' } } }],
])(
  'a derived Service loses its %s, which adds no pod of its own cluster, and an Event has the reason',
  async (what, more) => {
    const world = await started('active');
    const { metadata, spec, ...rest } = derivedService(world);
    const changed: { readonly metadata?: object; readonly spec?: object } = more;
    world.of('a').store.apply({
      ...rest,
      metadata: { ...metadata, ...changed.metadata },
      spec: { ...spec, ...changed.spec },
    } as RawObject);
    await world.pass(120);
    expect(served(world)).toEqual(['10.2.0.1', '10.2.0.2']);
    const now = derivedService(world);
    expect([now.spec?.['selector'], now.metadata.annotations?.[annotationSelector]]).toEqual([
      undefined,
      undefined,
    ]);
    if (what === 'annotation') expect(now.metadata.annotations).toEqual({ mine: 'stays' });
    const events = world.of('a').store.list('Event', 'shop') as unknown as readonly {
      readonly reason: string;
      readonly message: string;
    }[];
    expect(events).toMatchObject([
      { reason: 'SelectorUndone', message: expect.stringContaining(`has removed the ${what}`) },
    ]);
  },
);

it('slices of another controller on the derived Service are named in the conditions of import and export', async () => {
  const world = await started();
  const labels = { [labelServiceName]: derived, [labelSliceManagedBy]: slicesManagedBy };
  world.of('a').store.apply({
    ...object(
      'EndpointSlice',
      { name: 'left', labels },
      { addressType: 'IPv4', ports: [], endpoints: [{ addresses: ['10.66.0.1'] }] },
    ),
    apiVersion: 'discovery.k8s.io/v1',
  } as RawObject);
  world.of('b').store.apply(pod('web-3', '10.2.0.3'));
  await world.pass(60);
  expect(imported(world, 'a')).toHaveLength(3);
  expect(conditionsOf(world, 'a', 'ServiceImport')).toEqual([
    "Ready True Ready: slices that are not the hub's are served too: left",
  ]);
  expect(conditionsOf(world, 'b')[1]).toBe(
    'Ready True Exported: cluster "a": slices that are not the hub\'s are served too: left',
  );
});
