/**
 * Refusals by a cluster's rights and admission policies of parts of an export or import, and the parts that
 * continue.
 */
import { describe, expect, it } from 'vitest';
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { exporter, importer, pod, service } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { apiErrors, refusalsOfHub } from '#test/support/api-errors.ts';

const seen = (world: SetWorld): readonly string[] =>
  world
    .of('a')
    .store.list('EndpointSlice', 'shop')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy)
    .flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()} ${e.conditions?.ready}`,
      ),
    )
    .sort();
const ofB = ['b 10.2.0.1 true', 'b 10.2.0.2 true'];
const ofC = ['c 10.3.0.1 true', 'c 10.3.0.2 true'];
const refusal = (status: 403 | 422) =>
  new ClusterApiError('denied request', { status, reason: status === 403 ? 'Forbidden' : 'Invalid' });
const circuitOf = async (world: SetWorld, id: string) => (await readCluster(world.table, id))?.circuit;

describe('a cluster that refuses', () => {
  it('slices of one source delay no other source, and are written once the policies allow the source', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
    const fromC = (object: unknown) =>
      (object as EndpointSlice).metadata?.labels?.[labelSourceCluster] === 'c';
    world.of('a').refuses = (_, kind, object) =>
      kind === 'EndpointSlice' && fromC(object) ? refusal(422) : undefined;
    await world.pass(30);
    expect(seen(world)).toEqual(ofB);
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(30);
    expect(seen(world)).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true']);
    world.of('a').refuses = () => undefined;
    await world.pass(310);
    expect(seen(world)).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true', ...ofC]);
  });

  it('refused slices of a source keep its existing slices: none is deleted whose successor was refused', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(30);
    world.of('a').refuses = (verb, kind) =>
      kind === 'EndpointSlice' && verb === 'create' ? refusal(422) : undefined;
    const service = world.of('c').store.get('Service', 'shop', 'web') as unknown as {
      spec: { ports: object[] };
    };
    world.of('c').store.apply({
      ...service,
      spec: { ...service.spec, ports: [{ name: 'http', port: 80, targetPort: 9090, protocol: 'TCP' }] },
    } as never);
    await world.pass(60);
    expect(seen(world)).toEqual([...ofB, ...ofC]);
  });

  it('to let imports be written opens no circuit: the other services of the cluster have rights of their own', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    world.of('a').refuses = (verb, kind) =>
      kind === 'ServiceImport' && verb === 'create' ? refusal(403) : undefined;
    await world.pass(60);
    expect(await circuitOf(world, 'a')).toBeUndefined();
    world.of('a').refuses = () => undefined;
    await world.pass(310);
    expect(seen(world)).toEqual(ofB);
  });

  it.each<[string, ClusterApiError]>([
    ['by rights', refusal(403)],
    ['with 500, as a webhook makes it,', new ClusterApiError('failed calling webhook', { status: 500 })],
  ])(
    'a status of exports that is refused %s does not stop the export, and opens no circuit',
    async (_how, error) => {
      const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
      world.of('b').refuses = (verb, kind) =>
        kind === 'ServiceExport' && verb === 'patchStatus' ? error : undefined;
      await world.pass(60);
      expect(seen(world)).toEqual(ofB);
      expect(await circuitOf(world, 'b')).toBeUndefined();
      world.of('b').refuses = () => undefined;
      await world.pass(310);
      const { status } = world.of('b').store.get('ServiceExport', 'shop', 'web');
      expect(status?.conditions?.find((c) => c.type === 'Valid')).toMatchObject({ status: 'True' });
    },
  );
});

describe('a cluster that fails at writes of an import alone', () => {
  it.each<[string, ClusterApiError]>([
    ['with 500, as a webhook makes it,', new ClusterApiError('failed calling webhook', { status: 500 })],
    ['with no answer', new ClusterApiError('timed out', { reason: timedOut })],
  ])('%s opens no circuit, and has the import later', async (_how, error) => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    world.of('a').refuses = (verb, kind) =>
      kind === 'ServiceImport' && verb === 'create' ? error : undefined;
    for (let seconds = 0; seconds < 60; seconds++) {
      await world.pass(1);
      expect(await circuitOf(world, 'a')).toBeUndefined();
    }
    world.of('a').refuses = () => undefined;
    await world.pass(310);
    expect(seen(world)).toEqual(ofB);
  });

  it('by one broken connection opens no circuit, and has the import within seconds', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    let broken = 0;
    world.of('a').refuses = (verb, kind) =>
      kind === 'ServiceImport' && verb === 'create' && ++broken === 1
        ? new ClusterApiError('read ECONNRESET', {})
        : undefined;
    await world.pass(15);
    expect(broken).toBe(2);
    expect(await circuitOf(world, 'a')).toBeUndefined();
    expect(seen(world)).toEqual(ofB);
  });
});

describe('another part of a cluster is on time', () => {
  it('although one connection broke at an export that waits for an importer', async () => {
    const world = await SetWorld.start({ a: importer(), b: { ...exporter('10.2.0'), mode: 'active' } });
    await world.pass(60);
    const withPort = (port: number) =>
      service({ ports: [{ name: 'http', port, targetPort: 8080, protocol: 'TCP' }] });
    const b = world.of('b');
    world.of('a').apiAnswers = false;
    b.store.apply(withPort(81));
    await world.pass(30);
    let broken = 0;
    b.refuses = (_, kind) =>
      kind === 'ServiceExport' && ++broken === 1 ? new ClusterApiError('read ECONNRESET', {}) : undefined;
    b.store.apply(withPort(82));
    await world.pass(10);
    expect(broken).toBeGreaterThan(0);
    expect(await circuitOf(world, 'b')).toBeUndefined();
    b.store.apply(pod('web-9', '10.2.0.9'));
    await world.pass(2);
    expect(JSON.stringify(b.store.list('Endpoints', 'shop'))).toContain('10.2.0.9');
  });

  it.each([
    ['a', 'ServiceImport'],
    ['b', 'ServiceExport'],
  ])(
    'while each call of cluster %s for a %s fails, by whatever error but 401 and 429',
    async (id, failing) => {
      const opened: string[] = [];
      for (const [name, error] of apiErrors) {
        const world = await SetWorld.start({ a: importer(), b: { ...exporter('10.2.0'), mode: 'active' } });
        let failed = 0;
        world.of(id).refuses = (_, kind) => (kind === failing && ++failed > 0 ? error : undefined);
        for (let seconds = 0; seconds < 60 && !opened.includes(name); seconds += 2) {
          await world.pass(2);
          if (await circuitOf(world, id)) opened.push(name);
        }
        expect(failed).toBeGreaterThan(0);
      }
      expect(opened).toEqual(refusalsOfHub);
    },
    200_000,
  );
});
