/**
 * An import and its address are there as long as a ServiceExport is (KEP-1645). A Service that is gone, or
 * whose pods cannot be told, takes neither away: endpoints follow the last valid selector.
 */
import { describe, expect, it } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { allKinds } from '#shared/kube/types.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeUp } from '#shared/workqueue/rules/message.ts';
import {
  conditionsOf,
  exporter,
  imported,
  importer,
  optedIn,
  pod,
  service,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const both = ['b 10.2.0.1', 'b 10.2.0.2'];
const address = (world: SetWorld): unknown =>
  world.of('a').store.find('Service', 'shop', derivedName('shop', 'web'))?.spec?.['clusterIP'];

/** Cluster a imports shop/web of b, with the two pods of b. */
async function started(ofB: object = {}): Promise<SetWorld> {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', ofB) });
  await world.pass(60);
  expect(imported(world, 'a')).toEqual(both);
  return world;
}

/** The Service of b opts in. */
async function startedOptedIn(): Promise<SetWorld> {
  const world = await started();
  await switchOptIn(world.table, 'b', 'active', world.nowMs);
  world.of('b').store.apply(optedIn());
  await addWork({ table: world.table, now: () => world.nowMs }, world.of('b').queues.syncs, 'b', [
    wakeUp('shop', 'web'),
  ]);
  await world.pass(90);
  expect(conditionsOf(world, 'b')[0]).toBe('Valid True Valid: ');
  expect(imported(world, 'a')).toEqual(both);
  return world;
}

/** A pod goes and another one comes, and its importers follow within half a minute. */
async function followsPods(world: SetWorld): Promise<void> {
  const { store } = world.of('b');
  store.remove('Pod', 'shop', 'web-2');
  store.apply(pod('web-3', '10.2.0.3'));
  await world.pass(30);
  expect(imported(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.3']);
}

describe('an exported Service whose pods cannot be told', () => {
  it('an import outlives the switch opt-in off, and follows the annotation', async () => {
    const world = await startedOptedIn();
    const before = address(world);
    await switchOptIn(world.table, 'b', 'off', world.nowMs);
    await world.pass(180);
    expect(imported(world, 'a')).toEqual(both);
    const [valid, ready] = conditionsOf(world, 'b');
    expect(valid).toMatch(/^Valid False OptInOff: .*opt-in is off in this cluster/);
    expect(ready).toMatch(
      /^Ready False Failed: .*its import stays until the ServiceExport is deleted, and its endpoints follow the pods$/,
    );
    await followsPods(world);
    await switchOptIn(world.table, 'b', 'active', world.nowMs);
    await world.pass(180);
    expect(address(world)).toBe(before);
    expect(conditionsOf(world, 'b')[0]).toBe('Valid True Valid: ');
  });

  it.each([
    [
      'its annotation is invalid',
      optedIn('app in (web'),
      /^Valid False InvalidAnnotation: .*the annotation fleet-endpoints\/selector is invalid/,
    ],
    [
      'its annotation is removed',
      service({ selector: undefined }),
      /^Valid False NoSelector: .*neither a selector nor the annotation/,
    ],
  ])('an import outlives a Service if %s, and follows its last valid selector', async (_, changed, said) => {
    const world = await startedOptedIn();
    const before = address(world);
    world.of('b').store.apply(changed);
    await world.pass(60);
    expect(imported(world, 'a')).toEqual(both);
    expect(conditionsOf(world, 'b')[0]).toMatch(said);
    expect(conditionsOf(world, 'b')[1]).toContain('follow the pods of the last valid selector');
    await followsPods(world);
    world.of('b').store.apply(optedIn());
    await world.pass(60);
    expect(address(world)).toBe(before);
    expect(conditionsOf(world, 'b')[0]).toBe('Valid True Valid: ');
  });

  it('an import follows a set-based selector, also as the last valid one', async () => {
    const world = await startedOptedIn();
    const { store } = world.of('b');
    store.apply(optedIn('app in (web, other),!canary'));
    const other = (labels: object) => {
      const made = pod('other', '10.2.0.4');
      store.apply({ ...made, metadata: { ...made.metadata, labels: { app: 'other', ...labels } } });
    };
    other({});
    await world.pass(60);
    expect(imported(world, 'a')).toEqual([...both, 'b 10.2.0.4']);
    store.apply(optedIn('app in (web'));
    other({ canary: 'yes' });
    await world.pass(60);
    expect(imported(world, 'a')).toEqual(both);
    await followsPods(world);
  });

  it('an import outlives a Service whose selector is removed', async () => {
    const world = await started();
    world.of('b').store.apply(service({ selector: undefined }));
    await world.pass(60);
    expect(imported(world, 'a')).toEqual(both);
    await followsPods(world);
  });

  it('importers are not woken again while nothing changes', async () => {
    const world = await started();
    world.of('b').store.apply(service({ selector: undefined }));
    await world.pass(60);
    const calls = world.of('a').calls;
    await world.pass(300);
    expect(world.of('a').calls).toBe(calls);
  });

  it('ports of an import follow a Service without a selector', async () => {
    const world = await started();
    world.of('b').store.apply(
      service({
        selector: undefined,
        ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }],
      }),
    );
    await world.pass(60);
    expect(world.of('a').store.get('ServiceImport', 'shop', 'web').spec?.['ports']).toMatchObject([
      { name: 'http', port: 81 },
    ]);
    expect(imported(world, 'a')).toEqual(both);
  });

  it('a loss of more than half of the endpoints is asked of the cluster, by the last valid selector', async () => {
    const many = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i}`));
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', { given: many }) });
    await world.pass(60);
    world.of('b').store.apply(service({ selector: undefined }));
    await world.pass(60);
    for (const { metadata } of many) world.of('b').store.remove('Pod', 'shop', metadata.name);
    await world.pass(30);
    expect(imported(world, 'a')).toEqual(both);
  });

  it('endpoints stay as they are, and the export says so, if a rebuild has forgotten the last valid selector', async () => {
    const world = await startedOptedIn();
    const b = world.of('b');
    b.store.apply(optedIn('app in (web'));
    await world.pass(60);
    b.isBeating = false;
    const wait = (ms: number): Promise<void> => world.pass(ms / 1000);
    await rebuild({ table: world.table, now: () => world.nowMs, wait, say: () => {}, who: 'x' }, ['b']);
    b.isBeating = true;
    await b.startRelay(allKinds, 's2');
    await world.pass(300);
    expect(imported(world, 'a')).toEqual(both);
    expect(conditionsOf(world, 'b')[1]).toMatch(
      /, and its endpoints stay as they are, because the last valid selector is not known any more$/,
    );
    b.store.apply(optedIn());
    await followsPods(world);
  });

  it('a new export of a Service without a valid selector is not imported', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', { given: [optedIn()] }) });
    await world.pass(60);
    expect(conditionsOf(world, 'b').slice(0, 2)).toEqual([
      expect.stringMatching(/^Valid False OptInOff/),
      'Ready False Failed: the export is not valid',
    ]);
    expect(world.of('a').store.find('ServiceImport', 'shop', 'web')).toBeUndefined();
  });
});

describe('an exported Service that is gone', () => {
  it('an import keeps its address, without endpoints, and has endpoints again once the Service is made again', async () => {
    const world = await started();
    const before = address(world);
    world.of('b').store.remove('Service', 'shop', 'web');
    await world.pass(10);
    expect(imported(world, 'a')).toEqual([]);
    await world.pass(300);
    expect(conditionsOf(world, 'b')).toEqual([
      'Valid False NoService: Service shop/web does not exist',
      'Ready False Failed: the export is not valid: its import stays until the ServiceExport is deleted, without endpoints',
      'Conflict False NoConflicts: ',
    ]);
    world.of('b').store.apply(service({ selector: undefined }, { uid: 'web-again' }));
    await world.pass(60);
    expect(conditionsOf(world, 'b')[0]).toMatch(/^Valid False NoSelector/);
    expect(conditionsOf(world, 'b')[1]).toMatch(/, without endpoints$/);
    world.of('b').store.apply(service({}, { uid: 'web-again' }));
    await world.pass(60);
    expect(address(world)).toBe(before);
    expect(imported(world, 'a')).toEqual(both);
  });

  it('the endpoints of twenty pods leave with the Service', async () => {
    const many = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i}`));
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', { given: many }) });
    await world.pass(60);
    world.of('b').store.remove('Service', 'shop', 'web');
    await world.pass(30);
    expect(imported(world, 'a')).toEqual([]);
    expect(address(world)).toBeDefined();
  });

  it.each([
    ['becomes one of type ExternalName', service({ type: 'ExternalName' })],
    [
      'withdraws its endpoints by an empty annotation',
      service({ selector: undefined }, { annotations: { [annotationSelector]: '' } }),
    ],
  ])('an import keeps its address, without endpoints, if the Service %s', async (_, changed) => {
    const world = await started();
    const before = address(world);
    world.of('b').store.apply(changed);
    await world.pass(60);
    expect(imported(world, 'a')).toEqual([]);
    expect(address(world)).toBe(before);
  });

  it('an import keeps its address and endpoints if the export becomes too large', async () => {
    const world = await started();
    const ports = Array.from({ length: 65 }, (_, i) => ({
      name: i === 0 ? 'http' : `p${i}`,
      port: 80 + i,
      targetPort: 8080,
      protocol: 'TCP',
    }));
    world.of('b').store.apply(service({ ports }));
    await world.pass(60);
    expect(conditionsOf(world, 'b')[0]).toMatch(/^Valid False TooLarge/);
    await followsPods(world);
  });

  it('an import ends with its last ServiceExport, whatever its Service is', async () => {
    const world = await started();
    world.of('b').store.remove('Service', 'shop', 'web');
    await world.pass(30);
    world.of('b').store.remove('ServiceExport', 'shop', 'web');
    await world.pass(30);
    expect([address(world), world.of('a').store.find('ServiceImport', 'shop', 'web')]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
