/**
 * `explain` of a name that clusters export, from both sides (MC-95): the reasons are those of the runs that
 * have really been.
 */
import { describe, expect, it } from 'vitest';
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { explanationLines } from '#infra/cli/ask/explain-text.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import {
  exporter,
  foreignImport,
  importer,
  namespace,
  open,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const explainIn = (world: SetWorld, cluster: string, name = 'web'): Promise<Explanation> =>
  explain(world.table, { cluster, namespace: 'shop', name }, world.nowMs);
const factsOf = (explanation: Explanation, title: string): { readonly [label: string]: string } =>
  Object.fromEntries(
    explanation.groups.filter((g) => g.title === title).flatMap((g) => g.facts.map((f) => [f.label, f.text])),
  );
const importersOf = ({ clusterset }: Explanation) =>
  Object.fromEntries((clusterset?.importers ?? []).map((i) => [i.cluster, `${i.state}: ${i.why}`]));
const sourcesOf = ({ clusterset }: Explanation) => clusterset?.sources ?? [];
const podsOf = (explanation: Explanation, cluster: string): readonly string[] =>
  (sourcesOf(explanation).find((s) => s.cluster === cluster)?.pods ?? []).map(
    (p) => `${p.pod} ${p.place} ${p.addresses.join()} ${p.why}`,
  );

async function started(members: Parameters<typeof SetWorld.start>[0]): Promise<SetWorld> {
  const world = await SetWorld.start(members);
  await world.pass(10);
  return world;
}

describe('an export, explained in its own cluster', () => {
  it('an imported export names its importers, and reports that everything is written', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0') });
    const explanation = await explainIn(world, 'b');
    expect(explanation.summary).toContain('Exported, imported by a.');
    expect(factsOf(explanation, 'Export')).toMatchObject({
      Valid: 'yes',
      Conflicts: 'none',
      Precedence: 'b (this cluster): the only export',
    });
    expect(importersOf(explanation)['a']).toMatch(/^imported: everything is written; last run /);
    expect(podsOf(explanation, 'b')[0]).toMatch(/^web-1 ready 10\.2\.0\.1 its Ready condition is True/);
  });

  it('an export of a namespace that its cluster may not export reports this', async () => {
    const world = await started({
      a: importer(),
      b: exporter('10.2.0', { exports: { namespaces: ['other'] } }),
    });
    const explanation = await explainIn(world, 'b');
    expect(explanation.summary).toContain(
      'Its export is not valid (NotAllowed: namespace shop is not one that this cluster exports',
    );
    expect(factsOf(explanation, 'Export')['Valid']).toMatch(/^no, NotAllowed: /);
    expect(importersOf(explanation)['a']).toBe('left out: no cluster exports the name');
  });

  it('an export without its Service is explained too: no Service is there, and that is why', async () => {
    const world = await started({
      a: importer(),
      b: { ...open, exports: { namespaces: 'all' }, given: [namespace(), serviceExport()] },
    });
    expect((await explainIn(world, 'b')).summary).toContain('(NoService: Service shop/web does not exist)');
  });

  it('in a cluster that does not import it, its name leads to the export and its fault', async () => {
    const world = await started({
      a: importer(),
      b: { ...open, exports: { namespaces: 'all' }, given: [namespace(), serviceExport()] },
    });
    await expect(explainIn(world, 'a')).rejects.toThrow(
      /^shop\/web is not imported by a: in b: .*\(NoService: Service shop\/web does not exist\)/,
    );
    await expect(explainIn(world, 'a', 'other')).rejects.toThrow(/^no namespace shop with services in a/);
  });

  it('history and --at of an import say that none is kept', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0') });
    const key = { cluster: 'a', namespace: 'shop', name: 'web' };
    const derived = derivedName('shop', 'web');
    const text = `shop/web is an import in a: no history is kept of imports and of their derived Services, here shop/${derived}`;
    const { nowMs, table } = world;
    await expect(readRuns(table, key, { sinceMs: 0, nowMs })).rejects.toThrow(text);
    await expect(explainThen(table, key, nowMs - 1, nowMs)).rejects.toThrow(text);
    await expect(readRuns(table, { ...key, name: derived }, { sinceMs: 0, nowMs })).rejects.toThrow(
      /^no history is kept of imports: it is the derived Service of shop\/web/,
    );
  });

  it('an export whose importers are not ready for it names the reason of each', async () => {
    const world = await started({
      b: exporter('10.2.0'),
      missing: importer({ given: [] }),
      unlabelled: importer({ sameness: 'labelled' }),
      foreign: importer({ given: [namespace(), foreignImport()] }),
      preview: importer({ imports: 'shadow' }),
      family: importer({ families: ['IPv6'] }),
    });
    const told = importersOf(await explainIn(world, 'b'));
    expect(told['missing']).toBe('left out: the cluster has no namespace shop');
    expect(told['unlabelled']).toMatch(
      /^left out: namespace shop has no label fleet-endpoints\/clusterset=default/,
    );
    expect(told['foreign']).toBe(
      'refused: a ServiceImport of another implementation has the name: it is left alone',
    );
    expect(told['family']).toBe('refused: the cluster has none of IPv4');
    expect(told['preview']).toMatch(/^preview: the cluster’s switch for imports is shadow/);
  });

  it('an export reports that an importer whose API is down has a pending run, and why', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0') });
    world.of('a').apiAnswers = false;
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(10);
    expect(importersOf(await explainIn(world, 'b'))['a']).toMatch(
      /^pending: a run is pending since .* but the circuit of the cluster is open \(unreachable\)$/,
    );
  });
});

describe('an import, explained in its own cluster', () => {
  it('an import has the state and addresses of each source, and the export with precedence', async () => {
    const world = await started({
      a: importer(),
      b: exporter('10.2.0'),
      c: exporter('10.3.0', { given: [pod('web-3', '10.3.0.3', false)] }),
    });
    // By then the precedence is settled.
    await world.pass(60);
    const explanation = await explainIn(world, 'a');
    expect(explanation.summary).toMatch(
      /^Imported: 4 of 5 addresses of b and c are ready; everything is written/,
    );
    expect(sourcesOf(explanation).map((s) => [s.cluster, s.state, s.addresses, s.ready, s.ports])).toEqual([
      ['b', 'fresh', 2, 2, 'http 80/TCP'],
      ['c', 'fresh', 3, 2, 'http 80/TCP'],
    ]);
    expect(factsOf(explanation, 'Import')).toMatchObject({
      ServiceImport: 'exists',
      Type: 'ClusterSetIP',
      Ports: 'http 80/TCP',
      Precedence: 'b: its export has decided so far',
    });
    expect(factsOf(explanation, 'Import')['Derived Service']).toMatch(
      new RegExp(`^${derivedName('shop', 'web')}, 10\\.`),
    );
    expect(factsOf(explanation, 'Import')['State']).toMatch(/^imported: /);
  });

  it('an import of a silent source has the time of silence, and reports that its slices stay or follow its API', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
    world.of('b').isBeating = false;
    world.of('b').apiAnswers = false;
    await world.pass(600);
    world.of('c').store.apply(pod('web-1', '10.3.0.1', false));
    await world.pass(10);
    const explanation = await explainIn(world, 'a');
    const [b, c] = sourcesOf(explanation);
    expect(b).toMatchObject({ cluster: 'b', state: 'silent', addresses: 2 });
    expect(b?.why).toMatch(
      /^its relay sent its last heartbeat \S+Z \(\d+ min ago\): its slices stay in every importer as they are$/,
    );
    expect(c).toMatchObject({ cluster: 'c', state: 'fresh', ready: 1 });
    expect(importersOf(explanation)['a']).toMatch(/^imported: /);
    world.of('b').apiAnswers = true;
    await world.pass(120);
    expect(sourcesOf(await explainIn(world, 'a'))[0]?.why).toMatch(
      /: its API answers, and imports take its pods from there$/,
    );
  });

  it('an import of an evicted source reports the eviction for each of its pods, or that the eviction is held', async () => {
    const evicting = { evictAfterSeconds: 300 } as const;
    const twice = await started({
      a: importer(),
      b: exporter('10.2.0', evicting),
      c: exporter('10.3.0', evicting),
    });
    const once = await started({ a: importer(), b: exporter('10.2.0', evicting), d: importer() });
    for (const world of [twice, once]) {
      world.of('b').isBeating = false;
      world.of('b').apiAnswers = false;
      await world.pass(900);
    }
    const evicted = await explainIn(twice, 'a');
    expect(evicted.summary).toMatch(/^Imported: 2 of 2 addresses of c are ready; b is evicted/);
    expect(sourcesOf(evicted)[0]).toMatchObject({ cluster: 'b', state: 'evicted', addresses: 0 });
    expect(podsOf(evicted, 'b')).toEqual(
      ['web-1', 'web-2'].map((name) => `${name} absent  its source is evicted, and another one is ready`),
    );
    const held = await explainIn(once, 'a');
    expect(sourcesOf(held)[0]).toMatchObject({ cluster: 'b', state: 'evicted', addresses: 2 });
    expect(factsOf(held, 'Import')['Evictions held']).toBe(
      'b: other sources are not ready for each port that it serves',
    );
  });

  it('an import explains an absent address: outside its ranges, a collision, not ready, a port that is not exposed', async () => {
    const otherPorts = service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
    const world = await started({
      a: importer(),
      b: exporter('10.2.0', {
        exports: { namespaces: ['shop'], podCidrs: ['10.2.0.0/16'] },
        given: [pod('forged', '10.99.0.1')],
      }),
      c: exporter('10.3.0', { given: [pod('twin', '10.2.0.1'), pod('slow', '10.3.0.9', false)] }),
      d: {
        ...open,
        exports: { namespaces: 'all' },
        given: [namespace(), otherPorts, pod('web-1', '10.4.0.1'), serviceExport()],
      },
    });
    const explanation = await explainIn(world, 'a');
    expect(podsOf(explanation, 'b')).toContain(
      'forged absent  outside of the ranges that its cluster may export (exports.podCidrs)',
    );
    expect(podsOf(explanation, 'c')).toContain(
      'twin absent  collision: pod web-1 of b has the address on the same port',
    );
    expect(podsOf(explanation, 'c').find((p) => p.startsWith('slow'))).toMatch(
      /^slow not ready 10\.3\.0\.9 its Ready condition is False/,
    );
    expect(podsOf(explanation, 'd')).toEqual([
      'web-1 absent  none of the ports of its export is a port of the import',
    ]);
    expect(explanation.clusterset?.conflicts[0]).toMatch(/^PortConflict: Conflicting ports\. /);
    expect(explanation.clusterset?.leftOut).toHaveLength(2);
  });

  it('an import that is only shown lists what would be written', async () => {
    const world = await started({ a: importer({ imports: 'shadow' }), b: exporter('10.2.0') });
    const explanation = await explainIn(world, 'a');
    expect(explanation.summary).toMatch(/^Preview of an import: 2 of 2 addresses of b are to be ready/);
    expect(explanation.differencesTitle).toBe('Preview');
    expect(explanation.differences).toHaveLength(4);
  });

  it('a derived Service leads to the explanation of its import', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0') });
    const { summary, groups } = await explainIn(world, 'a', derivedName('shop', 'web'));
    expect(summary).toBe(
      'It is derived from ServiceImport web: explain shop/web shows the sources of its endpoints.',
    );
    expect(groups[0]?.facts.find((f) => f.label === 'Writer')?.text).toBe('import of web');
  });

  it('an import is printed in a terminal with its importers, sources and pods, or for one pod only', async () => {
    const world = await started({ a: importer(), b: exporter('10.2.0') });
    const lines = explanationLines(await explainIn(world, 'a')).map((line) =>
      typeof line === 'string' ? line : line.text,
    );
    expect(lines[0]).toMatch(/^a shop\/web: Imported: /);
    expect(lines.join('\n')).toMatch(
      /\nSources\n {2}b: fresh, last heartbeat .*\n {4}2 addresses, 2 ready, ports http 80\/TCP\n {4}pod web-1: 10\.2\.0\.1, ready: /,
    );
    const ofPod = await explain(
      world.table,
      { cluster: 'a', namespace: 'shop', name: 'web' },
      world.nowMs,
      'web-2',
    );
    expect(sourcesOf(ofPod).flatMap((s) => s.pods.map((p) => p.pod))).toEqual(['web-2']);
  });

  it('a cluster that takes no part is explained as before', async () => {
    const world = await started({
      a: { given: [namespace(), service(), pod('web-1', '10.1.0.1')] },
      b: exporter('10.2.0'),
    });
    const explanation = await explainIn(world, 'a');
    expect(explanation.clusterset).toBeUndefined();
    await expect(explainIn(world, 'a', 'nothing')).rejects.toThrow(
      'no service nothing in namespace shop of a: there is web',
    );
  });
});
