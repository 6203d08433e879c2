/**
 * A namespace where something is always going on: pods come, go, move between services and change, and so do
 * the services.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { Api } from '#test/e2e/api.ts';

export interface Life {
  /** Changes that the API server has accepted. */
  readonly changes: number;
  stop(): Promise<void>;
}

const services = 6;
const pods = 24;
const everyMs = 150;

/**
 * Changes objects at random. `random` is in [0, 1). A change that the API server refuses, or that fails, is
 * skipped.
 */
export async function startLife(api: Api, namespace: string, random: () => number): Promise<Life> {
  const pick = (n: number): number => Math.floor(random() * n);
  const app = (): { readonly app: string } => ({ app: `app-${pick(services)}` });
  await api.create('Namespace', '', { metadata: { name: namespace } });
  for (let i = 0; i < 3; i++) await api.create('Node', '', { metadata: { name: `${namespace}-node-${i}` } });

  const status = (i: number) => ({
    phase: 'Running',
    podIP: `10.77.0.${i + 1}`,
    podIPs: [{ ip: `10.77.0.${i + 1}` }],
    conditions: [
      {
        type: 'Ready',
        status: random() < 0.7 ? 'True' : 'False',
        lastTransitionTime: new Date().toISOString(),
      },
    ],
  });
  const flip = (i: number): Promise<unknown> =>
    api.patchStatus('Pod', namespace, `pod-${i}`, { status: status(i) });
  const makeService = (i: number, selector: object = { app: `app-${i}` }) =>
    api.create('Service', namespace, {
      metadata: { name: `svc-${i}` },
      spec: {
        clusterIP: 'None',
        selector: { ...selector },
        ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      },
    });
  async function makePod(i: number): Promise<void> {
    const spec = {
      nodeName: `${namespace}-node-${i % 3}`,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
    };
    await api.create('Pod', namespace, { metadata: { name: `pod-${i}`, labels: app() }, spec });
    await api.patchStatus('Pod', namespace, `pod-${i}`, { status: status(i) });
  }
  for (let i = 0; i < services; i++) await makeService(i);
  for (let i = 0; i < pods; i++) await makePod(i);

  const weighted: readonly (readonly [weight: number, () => Promise<unknown>])[] = [
    [8, () => flip(pick(pods))],
    [4, () => api.patch('Pod', namespace, `pod-${pick(pods)}`, { metadata: { labels: app() } })],
    [3, () => api.delete('Pod', namespace, `pod-${pick(pods)}`, { gracePeriodSeconds: 0 })],
    [3, () => makePod(pick(pods))],
    [1, () => api.patch('Service', namespace, `svc-${pick(services)}`, { spec: { selector: app() } })],
    [1, () => api.delete('Service', namespace, `svc-${pick(services)}`)],
    [2, () => makeService(pick(services))],
  ];
  const changesToChoose = weighted.flatMap(([weight, change]) =>
    Array.from({ length: weight }, () => change),
  );

  const stopping = new AbortController();
  let changes = 0;
  const living = (async () => {
    while (!stopping.signal.aborted) {
      const change = changesToChoose[pick(changesToChoose.length)];
      await change?.().then(
        () => changes++,
        (e: unknown) => {
          if (!(e instanceof ClusterApiError)) throw e;
        },
      );
      await sleep(everyMs);
    }
  })();
  return {
    get changes() {
      return changes;
    },
    async stop() {
      stopping.abort();
      await living;
    },
  };
}
