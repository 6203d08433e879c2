/** One cluster: the same script with the hub's endpoints and with kube-controller-manager's. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/cluster/faults/until.ts';
import { type Answer, type Clients, firstAnswerMs, lastAnswerMs, lost, makeClients, startClients } from './clients.ts';
import { figure, ms, printFigures } from './figures.ts';
import { type OneCluster, startOneCluster, type Writer } from './one-cluster.ts';
import { deployment, namespaceOf, port, service } from './workload.ts';

const namespace = 'shop';
const isLong = process.env['PACKETS'] === 'all';
const writers: readonly Writer[] = isLong ? ['kube-controller-manager', 'fleet-endpoints'] : ['fleet-endpoints'];
const rounds = isLong ? 5 : 2;
afterAll(printFigures);

describe.each(writers)('one cluster with endpoints of %s', (writer) => {
  let cluster: OneCluster;
  let clients: readonly string[] = [];
  let address = '';
  let hasFailed = false;
  let asking: Clients;
  beforeAll(async () => {
    cluster = await startOneCluster(writer);
    await cluster.apply([namespaceOf(namespace), service({ namespace }), deployment({ namespace, replicas: 4 })]);
    clients = await makeClients(cluster.nodes, cluster.controlPlane, namespace, 6);
    address = (await cluster.api.get('Service', namespace, 'web'))?.spec?.clusterIP ?? '';
    asking = startClients(cluster.nodes, clients, { to: `http://${address}:80` });
    await asking.answered((a) => a.error === undefined, 0);
    await cluster.kubectl('rollout', 'status', 'deployment/web', '-n', namespace, '--timeout=60s');
    await asking.more(20);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    await asking?.stop();
    if (hasFailed) console.log([...(cluster?.lines.slice(-40) ?? []), ...(cluster?.nodes.said.slice(-60) ?? [])].join('\n'));
    await cluster?.stop();
  });
  const pods = () => cluster.nodes.readyPods(`${namespace}/web-`);
  const nameOf = (pod: string): string => pod.split('/')[1] as string;
  const since = (atMs: number): readonly Answer[] => asking.answers.filter((a) => a.atMs >= atMs);
  const note = (row: string, value: string): void => figure('One cluster: Service with an address', row, writer, value);

  it('a rolling update loses no request', async () => {
    const from = Date.now();
    await cluster.kubectl('rollout', 'restart', 'deployment/web', '-n', namespace);
    await cluster.kubectl('rollout', 'status', 'deployment/web', '-n', namespace, '--timeout=120s');
    await until(() => pods().length === 4);
    await asking.more(60);
    const answers = since(from);
    note('rolling update of 4 pods: requests lost', `${lost(answers).length} of ${answers.length}`);
    expect(lost(answers)).toEqual([]);
  });

  it('traffic leaves a deleted pod, and loses no request', async () => {
    const from = Date.now();
    const [left, arrived]: [(number | undefined)[], (number | undefined)[]] = [[], []];
    for (let i = 0; i < rounds; i++) {
      const [pod] = pods();
      const [at, before] = [Date.now(), new Set(pods())];
      await cluster.kubectl('delete', '-n', namespace, 'pod', nameOf(pod as string), '--wait=false');
      const { atMs } = await cluster.nodes.event(pod as string, 'terminating', at);
      const next = await until(() => pods().find((p) => !before.has(p)));
      await asking.answered((a) => `${namespace}/${a.pod}` === next, at);
      await cluster.nodes.event(pod as string, 'ended', at);
      left.push(lastAnswerMs(asking.answers, nameOf(pod as string), atMs));
      arrived.push(firstAnswerMs(asking.answers, nameOf(next as string), (await cluster.nodes.event(next as string, 'ready', at)).atMs));
    }
    note('deleted pod: its last answer after', ms(left));
    note('pod that became ready: its first answer after', ms(arrived));
    note('deleted pods: requests lost', `${lost(since(from)).length} of ${since(from).length}`);
    expect(lost(since(from))).toEqual([]);
  });

  it('traffic follows the readiness of a pod, and loses no request', async () => {
    const from = Date.now();
    const [left, arrived]: [(number | undefined)[], (number | undefined)[]] = [[], []];
    const [pod = ''] = pods();
    const { addresses } = await cluster.nodes.event(pod, 'ready');
    const turn = async (is: boolean): Promise<number> => {
      const at = Date.now();
      await fetch(`http://${addresses[0]}:${port}/ready?is=${is}`, { method: 'POST' });
      return (await cluster.nodes.event(pod, is ? 'ready' : 'not ready', at)).atMs;
    };
    for (let i = 0; i < rounds; i++) {
      const off = await turn(false);
      // Traffic has left when each client was answered often enough by the others alone.
      await until(() => {
        const last = since(off).findLast((a) => a.pod === nameOf(pod))?.atMs ?? off;
        return since(last).length > 100;
      });
      left.push(lastAnswerMs(asking.answers, nameOf(pod), off));
      const on = await turn(true);
      await asking.answered((a) => a.pod === nameOf(pod), on);
      arrived.push(firstAnswerMs(asking.answers, nameOf(pod), on));
    }
    note('pod not ready: its last answer after', ms(left));
    note('pod ready again: its first answer after', ms(arrived));
    note('readiness: requests lost', `${lost(since(from)).length} of ${since(from).length}`);
    expect(lost(since(from))).toEqual([]);
  });

  it('a Service at scale zero serves until its last pod ends, and again from the first pod that is ready', async () => {
    const from = Date.now();
    const before = pods();
    await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=0');
    const ends = await Promise.all(before.map((pod) => cluster.nodes.event(pod, 'ended', from)));
    const end = Math.min(...ends.map(({ atMs }) => atMs));
    await asking.answered((a) => a.error !== undefined, from);
    const back = Date.now();
    await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=4');
    const first = await asking.answered((a) => a.error === undefined, back);
    await until(() => pods().length === 4);
    const ready = cluster.nodes.events.find((e) => e.event === 'ready' && e.atMs >= back && e.pod.startsWith(`${namespace}/web-`));
    // The request may have been sent before the pod was ready, and its connection retried.
    note('scaled from 0: first answer after the first pod is ready', ms([first.atMs + first.took - (ready?.atMs ?? 0)]));
    await asking.more(90);
    // A pod closes its port just before its event.
    const early = lost(since(from)).filter((a) => a.atMs < end - 1_000);
    const late = lost(since(first.atMs + first.took + 1_000));
    note('scaled to 0 and back: requests lost while a pod served', String(early.length + late.length));
    expect(early).toEqual([]);
    expect(late).toEqual([]);
  });
});
