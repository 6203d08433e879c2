/** Carries out the steps of a fault in a namespace of its own, as a user, kubelets and time would. */
import { setTimeout as sleep } from 'node:timers/promises';
import { statusError } from '#shared/clusters/api/status.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
interface OfStatus {
  readonly kind?: string;
  readonly name?: string;
  /** A selector of pods, which get addresses that begin with `ips`. */
  readonly pods?: string;
  readonly ips?: string;
  readonly status: object;
}

/** One of them, or `repeat` with `create` and `status`. */
export interface Step {
  readonly create?: Manifest;
  readonly status?: OfStatus;
  readonly repeat?: number;
  /** A pod that kubelet reports as ready. */
  readonly ready?: { readonly pod: string; readonly ip: string };
  readonly patch?: { readonly kind: string; readonly name: string; readonly patch: object };
  readonly delete?: { readonly kind: string; readonly name: string; readonly grace?: number };
  readonly controllers?: 'start' | 'stop';
  readonly wait?: 'the endpoints are settled' | 'the policy is enforced' | 'the policy is no longer enforced';
}

const groups: { readonly [kind: string]: string } = {
  EndpointSlice: '/apis/discovery.k8s.io/v1',
  Deployment: '/apis/apps/v1',
  ServiceExport: '/apis/multicluster.x-k8s.io/v1alpha1',
  ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1',
  ValidatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1',
};
const plurals: { readonly [kind: string]: string } = {
  Endpoints: 'endpoints',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
};
const global: ReadonlySet<string> = new Set([
  'Namespace',
  'Node',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

export interface Scene {
  carryOut(steps: readonly Step[]): Promise<void>;
}

export function scene(
  { request }: Pick<HttpTransport, 'request'>,
  controlPlane: Pick<ControlPlane, 'controllerManager'>,
  namespace: string,
): Scene {
  async function call<T>(method: string, path: string, body?: object, contentType?: string): Promise<T> {
    const answer = await request(method, path, {
      ...(body && { body: JSON.stringify(body) }),
      ...(contentType && { contentType }),
    });
    if (answer.status >= 300) throw statusError(answer);
    return JSON.parse(answer.body.toString()) as T;
  }
  const pathOf = (kind: string, name = ''): string =>
    [
      groups[kind] ?? '/api/v1',
      ...(global.has(kind) ? [] : [`namespaces/${namespace}`]),
      plurals[kind] ?? `${kind.toLowerCase()}s`,
      ...(name ? [name] : []),
    ].join('/');
  const merge = (path: string, patch: object): Promise<unknown> =>
    call('PATCH', path, patch, 'application/merge-patch+json');
  const create = (object: Manifest): Promise<unknown> => call('POST', pathOf(object.kind), object);
  const setStatus = (kind: string, name: string, status: object): Promise<unknown> =>
    merge(`${pathOf(kind, name)}/status`, { status });
  const items = async (path: string): Promise<readonly Manifest[]> =>
    (await call<{ readonly items: readonly Manifest[] }>('GET', path)).items;

  async function statusOf({ kind = 'Pod', name = '', pods, ips = '', status }: OfStatus): Promise<void> {
    if (pods === undefined) {
      await setStatus(kind, name, status);
      return;
    }
    const path = `${pathOf('Pod')}?labelSelector=${encodeURIComponent(pods)}`;
    const found = await until(async () => {
      const there = await items(path);
      return there.length > 1 ? there : undefined;
    });
    for (const [i, pod] of found.entries())
      await setStatus('Pod', pod.metadata.name, {
        ...status,
        podIP: `${ips}${10 + i}`,
        podIPs: [{ ip: `${ips}${10 + i}` }],
      });
  }

  const repeated = async (count: number, object: Manifest, { status }: OfStatus): Promise<void> => {
    const at = <T>(value: T, i: number): T =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll('{i}', String(i))
          .replaceAll('{ip}', `10.41.${Math.floor(i / 250)}.${(i % 250) + 1}`),
      ) as T;
    await concurrently(16, [...Array(count).keys()], async (i) => {
      await create(at(object, i));
      await setStatus(object.kind, at(object, i).metadata.name, at(status, i));
    });
  };

  /** The Endpoints and slices of the namespace stay the same for a second. */
  async function settled(): Promise<void> {
    let last = '';
    let sinceMs = 0;
    await until(async () => {
      const all = [...(await items(pathOf('EndpointSlice'))), ...(await items(pathOf('Endpoints')))];
      const text = JSON.stringify(all);
      if (text !== last) [last, sinceMs] = [text, Date.now()];
      return Date.now() - sinceMs >= 1_000 || undefined;
    });
  }

  const isRefused = async (): Promise<boolean> => {
    const slice = { addressType: 'IPv4', endpoints: [], metadata: { generateName: 'tried-' } };
    const { status } = await request('POST', `${pathOf('EndpointSlice')}?dryRun=All`, {
      body: JSON.stringify({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice }),
    });
    return status >= 400;
  };
  const waits: { readonly [W in NonNullable<Step['wait']>]: () => Promise<unknown> } = {
    'the endpoints are settled': settled,
    'the policy is enforced': () => until(async () => (await isRefused()) || undefined),
    'the policy is no longer enforced': () => until(async () => !(await isRefused()) || undefined),
  };

  const remove = ({ kind, name, grace }: NonNullable<Step['delete']>): Promise<unknown> =>
    call('DELETE', pathOf(kind, name), {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
      // No kubelet confirms the end of a pod.
      ...((grace !== undefined || kind === 'Pod') && { gracePeriodSeconds: grace ?? 0 }),
    });

  async function step(of: Step): Promise<void> {
    if (of.repeat && of.create && of.status) return repeated(of.repeat, of.create, of.status);
    if (of.create) await create(of.create);
    if (of.status) await statusOf(of.status);
    if (of.ready) await setStatus('Pod', of.ready.pod, readyStatus(of.ready.ip));
    if (of.patch) await merge(pathOf(of.patch.kind, of.patch.name), of.patch.patch);
    if (of.delete) await remove(of.delete);
    if (of.controllers === 'stop') await controlPlane.controllerManager.stop();
    if (of.controllers === 'start') await controlPlane.controllerManager.start();
    if (of.wait) await waits[of.wait]();
  }

  return {
    async carryOut(steps) {
      for (const of of steps) await step(of);
    },
  };
}

/** As kubelet reports a pod with one container. */
const readyStatus = (ip: string): object => ({
  ...{ phase: 'Running', reason: null, message: null, initContainerStatuses: null },
  ...{ podIP: ip, podIPs: [{ ip }] },
  conditions: [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-27T09:14:02Z' },
  ],
  containerStatuses: [
    {
      ...{ name: 'web', image: 'registry.example/web:1.14.2', imageID: '', ready: true, started: true },
      ...{ restartCount: 0, state: { running: { startedAt: '2026-11-27T09:12:31Z' } } },
    },
  ],
});

async function until<T>(find: () => Promise<T | undefined>, timeoutMs = 60_000): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new Error(`not within ${timeoutMs / 1000} s: ${find}`);
    await sleep(200);
  }
}
