/**
 * Which pods of an import answer: the preferred cluster, fail-over, session affinity, UDP; and an exporter
 * whose API is cut off.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/cluster/faults/until.ts';
import { type Answer, type Clients, makeClients, startClients } from '#test/cluster/packets/clients.ts';
import { nothingLost, printFigures } from '#test/cluster/packets/figures.ts';
import { stopAfterwards } from '#test/cluster/packets/suite.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';

const namespace = 'shop';
const title = 'Across two clusters: which pods answer';
afterAll(printFigures);

describe('an import of two clusters', () => {
  let set: Clusterset;
  let clients: readonly string[];
  beforeAll(async () => {
    set = await startClusterset(['a', 'b']);
    for (const id of ['a', 'b']) await set.of(id).deployExported({ namespace, replicas: 3 });
    clients = await makeClients(set.of('a'), namespace, 4);
  });
  stopAfterwards(() => set);

  /** Asks an import, and asserts that no request is lost since the time that the body returns. */
  async function asked(
    what: string,
    to: { readonly name: string; readonly scheme: 'http' | 'udp' },
    body: (asking: Clients) => Promise<number>,
  ): Promise<void> {
    const address = await set.importAddress('a', namespace, to.name);
    const asking = startClients(set.of('a').nodes, clients, { to: `${to.scheme}://${address}:80` });
    try {
      await asking.answered((a) => a.error === undefined, 0);
      const from = await body(asking);
      await asking.stop();
      nothingLost(title, what, 'requests lost', asking.since(from));
    } finally {
      await asking.stop();
    }
  }
  /** Resolves when the last 100 answers are from these clusters alone, and from all of them. */
  const answering = async (asking: Clients, ids: readonly string[]): Promise<void> => {
    const are = await until(() => {
      const last = asking.answers.slice(-100).filter((a) => a.error === undefined);
      return last.length === 100 && [...new Set(last.map((a) => a.cluster))].sort().join() === ids.join();
    });
    if (!are) throw new Error(`not answered by ${ids}: ${JSON.stringify(asking.answers.slice(-10))}`);
  };

  it('an import with prefer: local is answered by its own cluster, fails over without a lost request, and returns', async () => {
    const annotations = { 'fleet-endpoints/prefer': 'local' };
    for (const id of ['a', 'b'])
      await set.of(id).deployExported({ name: 'near', namespace, replicas: 3 }, annotations);
    await asked(
      'prefer: local, fail-over to the other cluster and back',
      { name: 'near', scheme: 'http' },
      async (asking) => {
        await answering(asking, ['a']);
        const from = Date.now();
        await set.of('a').kubectl('scale', '-n', namespace, 'deployment/near', '--replicas=0');
        await answering(asking, ['b']);
        await set.of('a').kubectl('scale', '-n', namespace, 'deployment/near', '--replicas=3');
        await answering(asking, ['a']);
        return from;
      },
    );
  });

  it('an import with sessionAffinity answers a client from one pod', async () => {
    const affinity = { sessionAffinity: 'ClientIP' };
    for (const id of ['a', 'b'])
      await set.of(id).deployExported({ name: 'sticky', namespace, replicas: 3, service: affinity });
    await asked(
      'session affinity: each client is answered by one pod',
      { name: 'sticky', scheme: 'http' },
      async (asking) => {
        // The import has had its pods of both clusters for a while.
        await asking.more(50);
        const from = Date.now();
        await asking.more(50);
        const pods = (client: string) =>
          new Set(asking.since(from).flatMap((a) => (a.client === client && a.pod ? [a.pod] : [])));
        for (const client of clients) expect(pods(client), client).toHaveProperty('size', 1);
        return from;
      },
    );
  });

  it('an import answers UDP, and a rolling update of the exporter loses no datagram', async () => {
    await asked('UDP, rolling update of the exporter', { name: 'web', scheme: 'udp' }, async (asking) => {
      await answering(asking, ['a', 'b']);
      const from = Date.now();
      await set.of('b').update(namespace);
      await asking.more(60);
      return from;
    });
  });

  it('a zone that is away in the exporter leaves the import, and returns, without a lost request', async () => {
    // The exporter's second node, in zone-b: 10.CLUSTER.NODE.x.
    const isOfZone = ({ address = '' }: Answer): boolean => address.startsWith('10.2.1.');
    await asked('a zone of the exporter away, and back', { name: 'web', scheme: 'http' }, async (asking) => {
      const lastAnswers = (): readonly Answer[] => asking.answers.slice(-200);
      await until(() => lastAnswers().some(isOfZone));
      const from = Date.now();
      await set.fleet.command('zone', 'b', 'zone-b', 'away');
      const switchedAt = Date.now();
      const hasLeft = await until(() => lastAnswers().every((a) => a.atMs >= switchedAt && !isOfZone(a)));
      expect(hasLeft, JSON.stringify(lastAnswers().slice(-10))).toBe(true);
      const backFrom = Date.now();
      await set.fleet.command('zone', 'b', 'zone-b', 'back');
      await asking.answered(isOfZone, backFrom);
      return from;
    });
  });

  it('traffic goes on while the API server of the exporter does not answer for 60 s, and follows it afterwards', async () => {
    const pid = set.fleet.members['b']!.controlPlane.apiServer.pid as number;
    await asked(
      'API server of the exporter frozen for 60 s, then a rolling update',
      { name: 'web', scheme: 'http' },
      async (asking) => {
        await answering(asking, ['a', 'b']);
        const from = Date.now();
        process.kill(pid, 'SIGSTOP');
        try {
          // The length of the outage is what is tried.
          await sleep(60_000);
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        await set.of('b').update(namespace);
        await answering(asking, ['a', 'b']);
        return from;
      },
    );
  });
});
