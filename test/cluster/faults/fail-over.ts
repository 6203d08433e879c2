/**
 * How long endpoints stand still when what keeps them dies: our relay, and beside it kube-controller-manager
 * with its defaults.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, connectApi } from '#test/e2e/api.ts';
import { freePorts, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { controlPlaneComponent } from '#test/support/control-plane/control-plane-component.ts';
import type { RelayPair, WatchedRelay } from './relay-pair.ts';
import { until } from './until.ts';

export interface FailOver {
  readonly what: string;
  /** Time from the fault until a relay sent. Undefined if none did. */
  readonly spokeMs: number | undefined;
  /** From the fault until the endpoints showed what had changed just after it. */
  readonly followedMs: number | undefined;
}

/** Hits the leading relay by each fault, so the other one takes over. */
export async function failOvers(
  { relays, first }: RelayPair,
  subject: Subject,
): Promise<readonly FailOver[]> {
  const results: FailOver[] = [];
  let speaker = first;

  async function measure(what: string, others: readonly WatchedRelay[], strike: () => void): Promise<void> {
    const turns = others.map((r) => r.turns);
    const from = performance.now();
    strike();
    await subject.flip();
    const [next, followedMs] = await Promise.all([
      until(() => others.find((r, i) => r.turns > (turns[i] ?? 0))),
      subject.followed().then((follows) => (follows ? performance.now() - from : undefined)),
    ]);
    results.push({ what, spokeMs: next && next.spokeAt - from, followedMs });
    if (next) speaker = next;
  }
  const [a, b] = relays;
  const other = (): WatchedRelay => (speaker === a ? b : a);
  /** The lease may have moved since the last fault: the next one hits the relay that leads now. */
  const bothReady = async (): Promise<void> => {
    await until(async () => (await a.isReady()) && (await b.isReady()));
    speaker =
      (await until(async () => ((await a.isLeading()) ? a : (await b.isLeading()) ? b : undefined))) ??
      speaker;
  };

  await measure('frozen past its lease', relays, () => speaker.signal('SIGSTOP'));
  // A restarted relay may be the first to see the end of the lease.
  await measure('killed', relays, () => speaker.signal('SIGKILL'));
  await bothReady();
  const cutOff = speaker;
  await measure('cut off from the API server', [other()], () => cutOff.api.stall());
  cutOff.api.cut();
  cutOff.api.resume();
  await bothReady();
  const unheard = speaker;
  await measure('cut off from the queue', [other()], () => unheard.queues.stall());
  unheard.queues.cut();
  unheard.queues.resume();
  await bothReady();
  // It gives the lease back, is started again at once, and may take the lease itself.
  await measure('told to stop', relays, () => speaker.signal('SIGTERM'));
  return results;
}

/** A pod whose readiness is turned over, and the Endpoints of its Service. */
export interface Subject {
  flip(): Promise<void>;
  followed(): Promise<boolean>;
}

export async function startSubject(api: Api, namespace: string): Promise<Subject> {
  await api.create('Namespace', '', { metadata: { name: namespace } });
  await api.create('Node', '', { metadata: { name: `${namespace}-node` } });
  await api.create('Service', namespace, {
    metadata: { name: 'web' },
    spec: {
      clusterIP: 'None',
      selector: { app: 'web' },
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
    },
  });
  const spec = {
    nodeName: `${namespace}-node`,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
  };
  await api.create('Pod', namespace, { metadata: { name: 'web', labels: { app: 'web' } }, spec });
  let ready = false;
  const subject: Subject = {
    async flip() {
      ready = !ready;
      const conditions = [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: new Date().toISOString() },
      ];
      const status = { phase: 'Running', podIP: '10.78.0.1', podIPs: [{ ip: '10.78.0.1' }], conditions };
      await api.patchStatus('Pod', namespace, 'web', { status });
    },
    followed: async () =>
      (await until(async () => {
        const [subset] = (await api.get('Endpoints', namespace, 'web'))?.subsets ?? [];
        return (ready ? subset?.addresses : subset?.notReadyAddresses)?.length === 1;
      })) ?? false,
  };
  await subject.flip();
  if (!(await subject.followed())) throw new Error(`the Endpoints of ${namespace}/web do not follow its pod`);
  return subject;
}

/**
 * Two kube-controller-managers with their own defaults of leader election, the leader killed: ms until the
 * endpoints follow again.
 */
export async function upstreamsFailOverMs(): Promise<number | undefined> {
  const controllers = '--controllers=endpoints-controller,endpointslice-controller';
  const controlPlane = await startControlPlane();
  const api = connectApi(controlPlane.connection);
  const [port] = await freePorts(1);
  const folder = join(controlPlane.kubeconfig, '..');
  const standby = controlPlaneComponent({
    name: 'kube-controller-manager',
    binary: controlPlane.binary,
    args: [
      `--kubeconfig=${controlPlane.kubeconfig}`,
      controllers,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(folder, 'standby')}`,
    ],
    logFile: join(folder, 'standby.log'),
    health: `https://127.0.0.1:${port}/healthz`,
    ...(controlPlane.connection.token && { token: controlPlane.connection.token }),
  });
  try {
    await controlPlane.controllerManager.start([controllers, '--leader-elect=true']);
    const subject = await startSubject(api, 'upstream');
    await standby.start();
    // Until it has seen the leader renew.
    await sleep(5_000);
    const from = performance.now();
    await controlPlane.controllerManager.stop('SIGKILL');
    await subject.flip();
    return (await subject.followed()) ? performance.now() - from : undefined;
  } finally {
    await standby.stop();
    api.close();
    await controlPlane.stop();
  }
}
