/**
 * Faults around a set of two clusters: missing kinds, a silent relay and API, a stopped hub, a cluster that
 * leaves.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { installMcs } from '#test/support/control-plane/mcs-crds.ts';
import { type ClusterWorld, versions } from './cluster-world.ts';
import { type Fleet, type SetWorld, startFleet } from './fleet.ts';

const labels = { 'fleet-endpoints/clusterset': 'default' };
const two = ['b 10.2.0.1 ready', 'b 10.2.0.2 ready'];

describe('a set of two clusters, one after the other', { timeout: 400_000 }, () => {
  let fleet: Fleet;
  let hasFailed = false;
  beforeAll(async () => {
    // a has none of the API's kinds when the hub starts.
    fleet = await startFleet({ members: { a: { kinds: [] }, b: {} }, sameness: 'labelled' });
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (hasFailed) console.log(fleet?.lines.slice(-80).join('\n'));
    await fleet?.stop();
  });

  async function world(): Promise<SetWorld> {
    const set = await fleet.world([]);
    for (const cluster of set.all) await cluster.createNamespace(labels);
    return set;
  }
  const sees = (cluster: ClusterWorld, endpoints: readonly string[], timeoutMs = 60_000): Promise<void> =>
    cluster.eventually(() => expect(cluster.seen(), cluster.id).toEqual(endpoints), timeoutMs);

  it('an importer without the kinds of the API is like any other cluster, and gets its imports when they are installed (G 17)', async () => {
    const { of } = await world();
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await sees(of('b'), two);
    expect(await of('a').derived()).toBeUndefined();
    await installMcs(fleet.members['a']!.controlPlane.connection);
    await sees(of('a'), two, 150_000);
    expect((await of('a').import())?.spec.ips).toEqual((await of('a').derived())?.spec?.clusterIPs);
  });

  it('a namespace without the label of the set imports nothing, and loses its imports with the label (G 16, G 18)', async () => {
    const set = await fleet.world();
    const { of, namespace } = set;
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await of('b').eventually(async () =>
      expect(await of('b').conditions()).toMatchObject({ Ready: 'True Exported' }),
    );
    expect(await of('a').import()).toBeUndefined();
    await of('a').api.patch('Namespace', '', namespace, { metadata: { labels } });
    await sees(of('a'), two);
    await of('a').api.patch('Namespace', '', namespace, {
      metadata: { labels: { 'fleet-endpoints/clusterset': null as never } },
    });
    await of('a').eventually(async () =>
      expect([await of('a').import(), await of('a').derived(), ...of('a').seen()]).toEqual([
        undefined,
        undefined,
      ]),
    );
  });

  it('an export that is not allowed reports this, and is imported when a switch allows it (G 18)', async () => {
    const { of } = await world();
    // The exports of other tests are given up, which the command requires --override for.
    await fleet.command('exports', 'b', 'other', '--override');
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await of('b').eventually(
      async () => expect(await of('b').conditions()).toMatchObject({ Valid: 'False NotAllowed' }),
      60_000,
    );
    expect(await of('a').import()).toBeUndefined();
    await fleet.command('exports', 'b', 'all');
    await sees(of('a'), two);
    await of('b').eventually(async () =>
      expect(await of('b').conditions()).toMatchObject({ Valid: 'True Valid' }),
    );
  });

  it('a source whose relay is silent keeps its slices unchanged until the hub calls its API, and follows its relay again later (G 20)', async () => {
    const { of } = await world();
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await of('a').exported(['10.1.0.1']);
    const all = ['a 10.1.0.1 ready', ...two];
    await sees(of('a'), all);
    const before = versions(of('a').imported()).length;
    const ofB = () =>
      versions(
        of('a')
          .imported()
          .filter((s) => s.metadata.labels?.['multicluster.kubernetes.io/source-cluster'] === 'b'),
      );
    const slicesOfB = ofB();
    const relay = (await fleet.processes()).get('relay b') as number;
    process.kill(relay, 'SIGSTOP');
    try {
      await of('b').removePod('web-0');
      await of('a').podStatus('web-0', { ready: false });
      await sees(of('a'), ['a 10.1.0.1 waiting', ...two]);
      await of('a').podStatus('web-0', { ready: true });
      await sees(of('a'), all);
      expect(ofB()).toEqual(slicesOfB);
      expect(versions(of('a').imported())).toHaveLength(before);
      // Sweep has noticed the silence, and found the API alive.
      await sees(of('a'), ['a 10.1.0.1 ready', 'b 10.2.0.2 ready'], 200_000);
    } finally {
      process.kill(relay, 'SIGCONT');
    }
    await of('b').pod('web-2', { labels: { app: 'web' }, ips: ['10.2.0.9'] });
    await sees(of('a'), ['a 10.1.0.1 ready', 'b 10.2.0.2 ready', 'b 10.2.0.9 ready'], 120_000);
  });

  it('an importer whose API is down delays no other cluster, and converges later (G 31)', async () => {
    const { of } = await world();
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    for (const id of ['a', 'b']) await sees(of(id), two);
    const { apiServer } = fleet.members['a']!.controlPlane;
    await apiServer.stop();
    await of('b').podStatus('web-0', { ready: false });
    await sees(of('b'), ['b 10.2.0.1 waiting', two[1] as string]);
    await apiServer.start();
    await sees(of('a'), ['b 10.2.0.1 waiting', two[1] as string], 150_000);
  });

  it('a stopped hub changes nothing, and afterwards everything is exact (G 33)', async () => {
    const { of } = await world();
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await of('b').exported(['10.2.0.3'], { name: 'gone' });
    for (const id of ['a', 'b'])
      await of(id).eventually(() => expect([...of(id).seen(), ...of(id).seen('gone')]).toHaveLength(3));
    const before = versions(of('a').imported());
    await fleet.stopHub();
    await of('b').podStatus('web-0', { ready: false });
    await of('b').pod('web-2', { labels: { app: 'web' }, ips: ['10.2.0.9'] });
    await of('b').unexport('gone');
    await of('a').api.delete('ServiceImport', of('a').namespace, 'gone');
    expect(versions(of('a').imported())).toEqual(before);
    await fleet.startHub();
    for (const id of ['a', 'b'])
      await sees(of(id), ['b 10.2.0.1 waiting', 'b 10.2.0.2 ready', 'b 10.2.0.9 ready']);
    for (const id of ['a', 'b'])
      await of(id).eventually(
        async () =>
          expect([await of(id).import('gone'), await of(id).derived('gone')]).toEqual([undefined, undefined]),
        60_000,
      );
  });

  it('a cluster that leaves takes its endpoints from the others before its records go, and leaves nothing in the set (G 32)', async () => {
    const { of, namespace } = await world();
    await of('b').exported(['10.2.0.1', '10.2.0.2']);
    await of('a').exported(['10.1.0.1']);
    await sees(of('a'), ['a 10.1.0.1 ready', ...two]);
    const { table } = fleet.hub;
    process.kill((await fleet.processes()).get('relay b') as number, 'SIGSTOP');
    await drainCluster(table, 'b', Date.now());
    await sees(of('a'), ['a 10.1.0.1 ready'], 120_000);
    await of('a').eventually(async () =>
      expect((await of('a').import())?.status?.clusters).toEqual([{ cluster: 'a' }]),
    );
    const left = async () => (await table.query(`SET#default#${namespace}`)).map((item) => item.sk);
    await of('a').eventually(async () =>
      expect((await left()).filter((sk) => sk.endsWith('#b'))).toEqual([]),
    );
  });
});
