/**
 * Two clusters that export and import a Service: clients of a ask the import by its address and by its name.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  type Clients,
  lastAnswerMs,
  makeClients,
  startClients,
} from '#test/cluster/packets/clients.ts';
import { figure, ms, nothingLost, printFigures } from '#test/cluster/packets/figures.ts';
import { dnsAddress } from '#test/cluster/packets/network.ts';
import { stopAfterwards } from '#test/cluster/packets/suite.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';

const namespace = 'shop';
const title = 'Across two clusters: requests to an import';
const isLong = process.env['PACKETS'] === 'all';
afterAll(printFigures);

describe('an import of two clusters', () => {
  let set: Clusterset;
  let clients: readonly string[];
  let byAddress: Clients;
  let byName: Clients;
  beforeAll(async () => {
    set = await startClusterset(['a', 'b']);
    for (const id of ['a', 'b']) await set.of(id).deployExported({ namespace, replicas: 3 });
    clients = await makeClients(set.of('a'), namespace, 6);
    const address = await set.importAddress('a', namespace);
    byAddress = startClients(set.of('a').nodes, clients.slice(0, 3), {
      to: `http://${address}:80`,
      rate: 40,
      seconds: 600,
    });
    const name = `web.${namespace}.svc.clusterset.local`;
    byName = startClients(set.of('a').nodes, clients.slice(3), {
      to: `http://${name}:80`,
      dns: dnsAddress,
      rate: 20,
      seconds: 600,
    });
    for (const asking of [byAddress, byName])
      for (const id of ['a', 'b']) await asking.answered((a) => a.cluster === id, 0);
    await byAddress.more(40);
  });
  stopAfterwards(() => set);

  const since = (atMs: number): readonly Answer[] => [...byAddress.since(atMs), ...byName.since(atMs)];
  /** Notes and asserts that nothing was lost since a time. */
  function served(what: string, fromMs: number): void {
    const answers = since(fromMs);
    nothingLost(title, what, 'requests lost', answers);
    expect(answers.length).toBeGreaterThan(300);
    expect(new Set(answers.map((a) => a.cluster)), 'both clusters answer').toEqual(new Set(['a', 'b']));
  }
  const processNamed = async (name: string): Promise<number> => {
    const pid = (await set.fleet.processes()).get(name);
    if (pid === undefined) throw new Error(`the hub has no process ${name}`);
    return pid;
  };

  it('an import is reached by address and by NAME.NS.svc.clusterset.local, and a rolling update of the exporter loses no request', async () => {
    const from = Date.now();
    await set.of('b').update(namespace);
    await byAddress.more(100);
    served('rolling update of the exporter', from);
  });

  it('traffic leaves a deleted pod of another cluster, and loses no request', async () => {
    const from = Date.now();
    const left: (number | undefined)[] = [];
    for (let i = 0; i < (isLong ? 5 : 2); i++) {
      const at = Date.now();
      const { nodes } = set.of('b');
      const [pod = ''] = nodes.readyPods(`${namespace}/web-`);
      await set
        .of('b')
        .kubectl('delete', '-n', namespace, 'pod', pod.split('/')[1] as string, '--wait=false');
      const { atMs } = await nodes.event(pod, 'terminating', at);
      await nodes.event(pod, 'ended', at);
      left.push(lastAnswerMs(since(at), pod.split('/')[1] as string, atMs));
    }
    figure(title, 'deleted pods of the exporter', 'last answer after', ms(left));
    served('deleted pods of the exporter', from);
  });

  it.each(['relay b', 'relay a'])(
    'traffic goes on when %s is killed, and follows the exporter afterwards',
    async (relay) => {
      const from = Date.now();
      process.kill(await processNamed(relay), 'SIGKILL');
      await byAddress.more(200);
      await set.of('b').update(namespace);
      await byAddress.more(100);
      served(`${relay === 'relay a' ? 'importer' : 'exporter'}’s relay killed, then a rolling update`, from);
    },
  );

  const awaySeconds = isLong ? 120 : 10;
  it(`traffic goes on while the hub is away for ${awaySeconds} s, and follows the exporter afterwards`, async () => {
    const from = Date.now();
    await set.fleet.stopHub();
    // The length of the outage is what is tried.
    await sleep(awaySeconds * 1_000);
    await set.fleet.startHub();
    // The hub has its lists again when a later export is imported.
    await set.of('b').deployExported({ name: 'later', namespace, replicas: 1 });
    await set.importAddress('a', namespace, 'later');
    await set.of('b').update(namespace);
    await byAddress.more(100);
    served(`hub away for ${awaySeconds} s, then a rolling update`, from);
  });
});
