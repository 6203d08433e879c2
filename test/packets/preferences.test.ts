/** Which pods of an import answer: the preferred cluster, fail-over, session affinity, UDP; and an exporter whose API is cut off. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/cluster/faults/until.ts';
import { type Answer, type Clients, lost, makeClients, startClients } from './clients.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';
import { figure, printFigures } from './figures.ts';

const namespace = 'shop';
const title = 'Across two clusters: which pods answer';

describe('an import of two clusters', () => {
  let set: Clusterset;
  let clients: readonly string[];
  let hasFailed = false;
  beforeAll(async () => {
    set = await startClusterset(['a', 'b']);
    for (const id of ['a', 'b']) await set.of(id).deployExported({ namespace, replicas: 3 });
    clients = await makeClients(set.of('a').nodes, set.fleet.members['a']!.controlPlane, namespace, 4);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (hasFailed) console.log(set?.said.join('\n'));
    await set?.stop();
    printFigures();
  });

  async function asked(name: string, scheme: 'http' | 'udp', body: (asking: Clients) => Promise<void>): Promise<readonly Answer[]> {
    const address = await set.importAddress('a', namespace, name);
    const asking = startClients(set.of('a').nodes, clients, { to: `${scheme}://${address}:80` });
    await asking.answered((a) => a.error === undefined, 0);
    try {
      await body(asking);
    } finally {
      await asking.stop();
    }
    return asking.answers;
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
    for (const id of ['a', 'b']) await set.of(id).deployExported({ name: 'near', namespace, replicas: 3 }, annotations);
    let from = 0;
    const answers = await asked('near', 'http', async (asking) => {
      await answering(asking, ['a']);
      from = Date.now();
      await set.of('a').kubectl('scale', '-n', namespace, 'deployment/near', '--replicas=0');
      await answering(asking, ['b']);
      await set.of('a').kubectl('scale', '-n', namespace, 'deployment/near', '--replicas=3');
      await answering(asking, ['a']);
    });
    const counted = answers.filter((a) => a.atMs >= from);
    figure(title, 'prefer: local, fail-over to the other cluster and back', 'requests lost', `${lost(counted).length} of ${counted.length}`);
    expect(lost(counted)).toEqual([]);
  });

  it('an import with sessionAffinity answers a client from one pod', async () => {
    const affinity = { sessionAffinity: 'ClientIP' };
    for (const id of ['a', 'b']) await set.of(id).deployExported({ name: 'sticky', namespace, replicas: 3, service: affinity });
    const answers = await asked('sticky', 'http', async (asking) => {
      // The import has had its pods of both clusters for a while.
      await asking.more(100);
    });
    const counted = answers.slice(-200);
    for (const client of clients) expect(new Set(counted.filter((a) => a.client === client).map((a) => a.pod)), client).toHaveProperty('size', 1);
    expect(lost(counted)).toEqual([]);
  });

  it('an import answers UDP, and a rolling update of the exporter loses no datagram', async () => {
    let from = 0;
    const answers = await asked('web', 'udp', async (asking) => {
      await answering(asking, ['a', 'b']);
      from = Date.now();
      await set.of('b').update(namespace);
      await asking.more(60);
    });
    const counted = answers.filter((a) => a.atMs >= from);
    figure(title, 'UDP, rolling update of the exporter', 'requests lost', `${lost(counted).length} of ${counted.length}`);
    expect(lost(counted)).toEqual([]);
  });

  it('traffic goes on while the API server of the exporter does not answer for 60 s, and follows it afterwards', async () => {
    const pid = set.fleet.members['b']!.controlPlane.apiServer.pid as number;
    let from = 0;
    const answers = await asked('web', 'http', async (asking) => {
      await answering(asking, ['a', 'b']);
      from = Date.now();
      process.kill(pid, 'SIGSTOP');
      try {
        // The length of the outage is what is tried.
        await sleep(60_000);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await set.of('b').update(namespace);
      await answering(asking, ['a', 'b']);
    });
    const counted = answers.filter((a) => a.atMs >= from);
    figure(
      title,
      'API server of the exporter frozen for 60 s, then a rolling update',
      'requests lost',
      `${lost(counted).length} of ${counted.length}`,
    );
    expect(lost(counted)).toEqual([]);
  });
});
