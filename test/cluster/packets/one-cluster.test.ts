/** One cluster: the same script with the hub's endpoints and with kube-controller-manager's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/cluster/faults/until.ts';
import { type AskedCluster, startAskedCluster } from './asked-cluster.ts';
import { type Answer, firstAnswerMs, lastAnswerMs, lost } from './clients.ts';
import { figure, ms, nothingLost, printFigures } from './figures.ts';
import type { Writer } from './one-cluster.ts';
import { stopAfterwards } from './suite.ts';
import { port } from './workload.ts';

const namespace = 'shop';
const isLong = process.env['PACKETS'] === 'all';
const writers: readonly Writer[] = isLong
  ? ['kube-controller-manager', 'fleet-endpoints']
  : ['fleet-endpoints'];
const rounds = isLong ? 5 : 2;
afterAll(printFigures);

describe.each(writers)('one cluster with endpoints of %s', (writer) => {
  let cluster: AskedCluster['cluster'];
  let asking: AskedCluster['asking'];
  beforeAll(async () => {
    ({ cluster, asking } = await startAskedCluster(writer, { namespace, replicas: 4 }));
  });
  stopAfterwards(() => cluster);
  const pods = () => cluster.nodes.readyPods(`${namespace}/web-`);
  const nameOf = (pod: string): string => pod.split('/')[1] as string;
  const title = 'One cluster: Service with an address';
  const note = (row: string, value: string): void => figure(title, row, writer, value);

  it('a rolling update loses no request', async () => {
    const from = Date.now();
    await cluster.update(namespace);
    await until(() => pods().length === 4);
    await asking.more(60);
    nothingLost(title, 'rolling update of 4 pods: requests lost', writer, asking.since(from));
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
      arrived.push(
        firstAnswerMs(
          asking.answers,
          nameOf(next as string),
          (await cluster.nodes.event(next as string, 'ready', at)).atMs,
        ),
      );
    }
    note('deleted pod: its last answer after', ms(left));
    note('pod that became ready: its first answer after', ms(arrived));
    nothingLost(title, 'deleted pods: requests lost', writer, asking.since(from));
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
        const last = asking.since(off).findLast((a) => a.pod === nameOf(pod))?.atMs ?? off;
        return asking.since(last).length > 100;
      });
      left.push(lastAnswerMs(asking.answers, nameOf(pod), off));
      const on = await turn(true);
      await asking.answered((a) => a.pod === nameOf(pod), on);
      arrived.push(firstAnswerMs(asking.answers, nameOf(pod), on));
    }
    note('pod not ready: its last answer after', ms(left));
    note('pod ready again: its first answer after', ms(arrived));
    nothingLost(title, 'readiness: requests lost', writer, asking.since(from));
  });

  it('a Service at scale zero serves until its last pod ends, and again from the first pod that is ready', async () => {
    const arrived: number[] = [];
    const lostMeanwhile: Answer[] = [];
    for (let i = 0; i < rounds; i++) {
      const [from, before] = [Date.now(), pods()];
      await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=0');
      const ends = await Promise.all(before.map((pod) => cluster.nodes.event(pod, 'ended', from)));
      await asking.answered((a) => a.error !== undefined, from);
      const back = Date.now();
      await cluster.kubectl('scale', '-n', namespace, 'deployment/web', '--replicas=4');
      const first = await asking.answered((a) => a.error === undefined, back);
      await until(() => pods().length === 4);
      const ready = cluster.nodes.events.find(
        (e) => e.event === 'ready' && e.atMs >= back && e.pod.startsWith(`${namespace}/web-`),
      );
      // The request may have been sent before the pod was ready, and its connection retried.
      arrived.push(first.atMs + first.took - (ready?.atMs ?? 0));
      await asking.more(90);
      // A pod closes its port just before its event.
      const end = Math.min(...ends.map(({ atMs }) => atMs)) - 1_000;
      const again = first.atMs + first.took + 1_000;
      lostMeanwhile.push(...lost(asking.since(from)).filter((a) => a.atMs < end || a.atMs >= again));
    }
    note('scaled from 0: first answer after the first pod is ready', ms(arrived));
    note('scaled to 0 and back: requests lost while a pod served', String(lostMeanwhile.length));
    expect(lostMeanwhile).toEqual([]);
  });
});
