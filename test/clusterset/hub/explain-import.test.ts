/** `explain` of an import tells what the last run wrote, by source, and not what the sources' snapshots would give. */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import {
  exporter,
  importer,
  namespace,
  open,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const inA = { cluster: 'a', namespace: 'shop', name: 'web' };
const ask = (world: SetWorld) => explain(world.table, inA, world.nowMs);
const told = async (world: SetWorld): Promise<string> =>
  explanationLines(await ask(world))
    .map((line) => (typeof line === 'string' ? line : line.text))
    .join('\n');
/** The addresses that explain names, by source. */
const claimed = async (world: SetWorld): Promise<readonly string[]> =>
  ((await ask(world)).clusterset?.sources ?? [])
    .flatMap((s) => s.pods.flatMap((p) => p.addresses.map((a) => `${s.cluster} ${a}`)))
    .sort();
const slicesIn = (world: SetWorld, id: string) =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy);
const imported = (world: SetWorld, id: string): readonly string[] =>
  slicesIn(world, id)
    .flatMap((s) =>
      (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()}`),
    )
    .sort();

describe('explain of an import', () => {
  it('slices of one source that the cluster refuses are not counted, and the refusal is told', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0'),
      c: exporter('10.3.0'),
    });
    world.of('a').refuses = (verb, kind, o) =>
      kind === 'EndpointSlice' &&
      verb === 'create' &&
      (o as RawObject).metadata.labels?.[labelSourceCluster] === 'b'
        ? new ClusterApiError('a policy denies it', { status: 403, reason: 'Forbidden' })
        : undefined;
    await world.pass(60);
    expect(imported(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
    expect(await claimed(world)).toEqual(imported(world, 'a'));
    expect((await ask(world)).summary).toContain('2 of 2 addresses of c are ready; none of b is listed');
    expect((await ask(world)).summary).toContain('slices of b: a policy denies it');
    // The other source is imported all the same.
    expect((await explain(world.table, { ...inA, cluster: 'c' }, world.nowMs)).summary).toContain(
      'Exported, imported by a',
    );
  });

  it('the addresses of a paused source are those that the slices have, also of a pod that is gone', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(60);
    await switchMode(world.table, 'b', 'paused', world.nowMs);
    await world.pass(5);
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(120);
    expect(imported(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
    expect(await claimed(world)).toEqual(imported(world, 'a'));
    expect((await ask(world)).summary).toMatch(
      /b is silent, with 2 of 2 addresses ready: an operator has paused the cluster/,
    );
    expect(await told(world)).toMatch(
      /no pod: 10\.2\.0\.1, ready: no pod of the source has this address now/,
    );
  });

  it.each(['shadow', 'off'] as const)('the slices of before a switch to %s are named', async (imports) => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(60);
    await saveMembership(world.table, 'a', { ...noMembership, ...open, imports });
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(120);
    expect(imported(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
    expect(await claimed(world)).toEqual(imported(world, 'a'));
    expect((await ask(world)).summary).toContain('2 of 2 addresses of b are ready');
  });

  it('hints that a silent source’s slices keep away are not claimed', async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1', uid: 'node-1', labels: { 'topology.kubernetes.io/zone': 'z1' } },
    } as RawObject;
    const on = (name: string, ip: string): RawObject => ({
      ...pod(name, ip),
      spec: { nodeName: 'node-1', containers: [] },
    });
    const both = (ip: string) => ({
      ...exporter(ip),
      imports: 'active' as const,
      given: [namespace(), node, service(), on('web-1', `${ip}.1`), on('web-2', `${ip}.2`), serviceExport()],
    });
    const world = await SetWorld.start({ a: both('10.1.0'), b: both('10.2.0') });
    await world.pass(60);
    world.of('b').isBeating = false;
    world.of('b').apiAnswers = false;
    await world.pass(300);
    world.of('a').store.apply(serviceExport({ annotations: { 'fleet-endpoints/prefer': 'local' } }));
    await world.pass(120);
    expect(slicesIn(world, 'a').flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.hints ?? []))).toEqual(
      [],
    );
    expect(await told(world)).not.toContain('and they alone are used');
  });

  it('neither the import nor its derived Service has a history: that is said of both', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(60);
    const at = async (name: string): Promise<string> =>
      explainThen(world.table, { ...inA, name }, world.nowMs - 5000, world.nowMs).then(
        (t) => t.summary,
        String,
      );
    expect(await at('web')).toContain('no history is kept of imports');
    expect(await at(derivedName('shop', 'web'))).toContain('no history is kept of imports');
  });
});
