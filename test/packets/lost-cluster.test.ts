/** A set of three clusters loses one as a whole: its nodes are cut off, its API server and its relay are frozen. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { saveMembership } from '#shared/clusters/clusterset-membership.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { until } from '#test/cluster/faults/until.ts';
import { type Clients, lost, makeClients, startClients } from './clients.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';
import { figure, printFigures } from './figures.ts';
import { cutNode } from './network.ts';

const namespace = 'shop';
const title = 'A set of three clusters loses one, `evictAfter` 60 s';

describe('an import of three clusters', () => {
  let set: Clusterset;
  let asking: Clients;
  let hasFailed = false;
  beforeAll(async () => {
    set = await startClusterset(['a', 'b', 'c'], 1);
    const { table } = set.fleet.hub;
    for (const id of ['a', 'b', 'c']) {
      const known = await readCluster(table, id);
      if (!known) throw new Error(`the hub has no cluster ${id}`);
      await saveMembership(table, id, { ...known.clusterset, silence: 'evictAfter', evictAfterSeconds: 60 });
      await set.of(id).deployExported({ namespace, replicas: 2 });
    }
    const clients = await makeClients(set.of('a').nodes, set.fleet.members['a']!.controlPlane, namespace, 4);
    const address = await set.importAddress('a', namespace);
    asking = startClients(set.of('a').nodes, clients, { to: `http://${address}:80`, rate: 15, seconds: 600 });
    for (const id of ['a', 'b', 'c']) await asking.answered((a) => a.cluster === id, 0);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    await asking?.stop();
    if (hasFailed) console.log(set?.said.join('\n'));
    await set?.stop();
    printFigures();
  });
  const stateOf = async (id: string): Promise<string | undefined> => (await readCluster(set.fleet.hub.table, id))?.source?.state;
  const seconds = (fromMs: number, toMs: number): string => `${Math.round((toMs - fromMs) / 1_000)} s`;

  it('an import evicts the lost cluster alone, loses no request after that, and takes it back', { timeout: 900_000 }, async () => {
    const relay = (await set.fleet.processes()).get('relay b') as number;
    const { pid = 0 } = set.fleet.members['b']!.controlPlane.apiServer;
    const { networks } = set.of('b').nodes;
    const from = Date.now();
    for (const each of [relay, pid]) process.kill(each, 'SIGSTOP');
    await Promise.all(networks.map((network) => cutNode(network, true)));
    let back = 0;
    try {
      expect(await until(async () => (await stateOf('b')) === 'evicted', 400_000), 'b is evicted').toBe(true);
      const evicted = Date.now();
      // Requests that have begun before the eviction may be lost, at most 2 s later.
      const quiet = await until(() => {
        const last = lost(asking.answers).at(-1)?.atMs ?? from;
        return Date.now() - last > 15_000 ? last : undefined;
      });
      expect(quiet, 'the importer has left the lost cluster').toBeDefined();
      expect([await stateOf('a'), await stateOf('c')], 'a and c').not.toContain('evicted');
      const answers = asking.answers.filter((a) => a.atMs >= from && a.atMs <= (quiet ?? 0));
      figure(title, 'cluster b', 'evicted after', seconds(from, evicted));
      figure(title, 'cluster b', 'last lost request after', seconds(from, quiet ?? 0));
      figure(title, 'cluster b', 'requests lost until then', `${lost(answers).length} of ${answers.length}`);
    } finally {
      back = Date.now();
      await Promise.all(networks.map((network) => cutNode(network, false)));
      for (const each of [pid, relay]) process.kill(each, 'SIGCONT');
    }
    const first = await asking.answered((a) => a.cluster === 'b', back, 200_000);
    await asking.more(60);
    figure(title, 'cluster b', 'answers again after its return', seconds(back, first.atMs));
    const after = asking.answers.filter((a) => a.atMs >= first.atMs);
    figure(title, 'cluster b', 'requests lost at its return', `${lost(after).length} of ${after.length}`);
    expect(lost(after)).toEqual([]);
  });
});
