/**
 * A set of three clusters loses one: its API server and its relay are frozen, first while its nodes stay
 * reachable, then with its nodes cut off.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import { until } from '#test/cluster/faults/until.ts';
import { type Clients, lost, makeClients, startClients } from '#test/cluster/packets/clients.ts';
import { figure, nothingLost, printFigures } from '#test/cluster/packets/figures.ts';
import { cutNode } from '#test/cluster/packets/network.ts';
import { stopAfterwards } from '#test/cluster/packets/suite.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';

const namespace = 'shop';
const title = 'A set of three clusters loses cluster b, `evictAfter` 60 s';
afterAll(printFigures);

describe('an import of three clusters', () => {
  let set: Clusterset;
  let clients: readonly string[];
  beforeAll(async () => {
    set = await startClusterset(['a', 'b', 'c'], 1);
    const { table } = set.fleet.hub;
    for (const id of ['a', 'b', 'c']) {
      const known = await readCluster(table, id);
      if (!known) throw new Error(`the hub has no cluster ${id}`);
      await saveMembership(table, id, {
        ...membershipOf(known),
        evictAfterSeconds: 60,
      });
      await set.of(id).deployExported({ namespace, replicas: 2 });
    }
    clients = await makeClients(set.of('a'), namespace, 4);
  });
  stopAfterwards(() => set);
  const stateOf = async (id: string): Promise<string | undefined> =>
    sourceOf((await readCluster(set.fleet.hub.table, id)) as ClusterRecord)?.state;
  const seconds = (fromMs: number, toMs: number): string => `${Math.round((toMs - fromMs) / 1_000)} s`;

  async function startAsking(): Promise<Clients> {
    const address = await set.importAddress('a', namespace);
    const asking = startClients(set.of('a').nodes, clients, {
      to: `http://${address}:80`,
      rate: 15,
      seconds: 600,
    });
    for (const id of ['a', 'b', 'c']) await asking.answered((a) => a.cluster === id, 0);
    return asking;
  }
  const evicted = () => until(async () => (await stateOf('b')) === 'evicted', 400_000);
  /** Resolves when the slices of b are deleted in the importer. */
  const left = () =>
    set.fleet.members['a']!.observed.eventually(() => {
      const slices = set.fleet.members['a']!.observed.slices(namespace, derivedName(namespace, 'web'));
      expect(slices.map((s) => s.metadata.labels?.[labelSourceCluster]).sort()).toEqual(['a', 'c']);
    }, 120_000);
  /** Freezes API server and relay of b meanwhile. Returns the time of their return. */
  async function frozen(body: (fromMs: number) => Promise<void>): Promise<number> {
    const { pid = 0 } = set.fleet.members['b']!.controlPlane.apiServer;
    const relay = (await set.fleet.processes()).get('relay b') as number;
    try {
      for (const each of [relay, pid]) process.kill(each, 'SIGSTOP');
      await body(Date.now());
    } finally {
      for (const each of [pid, relay]) process.kill(each, 'SIGCONT');
    }
    return Date.now();
  }
  async function returned(asking: Clients, row: string, back: number): Promise<void> {
    const first = await asking.answered((a) => a.cluster === 'b', back, 200_000);
    await asking.more(60);
    await asking.stop();
    figure(title, row, 'b answers again after', seconds(back, first.atMs));
    nothingLost(title, row, 'lost at its return', asking.since(first.atMs));
  }

  it('an import evicts a cluster that only the hub cannot reach, and loses no request', {
    timeout: 900_000,
  }, async () => {
    const row = 'only the hub cannot reach it';
    const asking = await startAsking();
    const back = await frozen(async (from) => {
      expect(await evicted(), 'b is evicted').toBe(true);
      figure(title, row, 'evicted after', seconds(from, Date.now()));
      await left();
      figure(title, row, 'slices of b deleted after', seconds(from, Date.now()));
      const answering = () => new Set(asking.answers.slice(-100).map((a) => a.cluster));
      expect(await until(() => !answering().has('b')), 'the importer has left b').toBe(true);
      figure(
        title,
        row,
        'last answer of b after',
        seconds(from, asking.answers.findLast((a) => a.cluster === 'b')?.atMs ?? from),
      );
      nothingLost(title, row, 'lost until then', asking.since(from));
    });
    await returned(asking, row, back);
  });

  it('an import evicts the lost cluster alone, loses no request after that, and takes it back', {
    timeout: 900_000,
  }, async () => {
    const row = 'lost as a whole';
    const { networks } = set.of('b').nodes;
    const asking = await startAsking();
    const back = await frozen(async (from) => {
      await Promise.all(networks.map((network) => cutNode(network, true)));
      try {
        expect(await evicted(), 'b is evicted').toBe(true);
        figure(title, row, 'evicted after', seconds(from, Date.now()));
        await left();
        figure(title, row, 'slices of b deleted after', seconds(from, Date.now()));
        // Requests that have begun before the eviction may be lost, at most 2 s later.
        const quiet = await until(() => {
          const last = lost(asking.answers).at(-1)?.atMs ?? from;
          return Date.now() - last > 15_000 ? last : undefined;
        });
        expect(quiet, 'the importer has left the lost cluster').toBeDefined();
        expect([await stateOf('a'), await stateOf('c')], 'a and c').not.toContain('evicted');
        const answers = asking.since(from).filter((a) => a.atMs <= (quiet ?? 0));
        figure(title, row, 'last lost request after', seconds(from, quiet ?? 0));
        figure(title, row, 'lost until then', `${lost(answers).length} of ${answers.length}`);
      } finally {
        await Promise.all(networks.map((network) => cutNode(network, false)));
      }
    });
    await returned(asking, row, back);
  });
});
