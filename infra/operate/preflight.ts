/** May this cluster's writer be us? Asked before a cluster goes active. */
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterApi } from '#shared/cluster/port.ts';
import type { HttpTransport } from '#shared/cluster/transport.ts';
import { type ClusterMeta, isSynced } from '#shared/snapshot/meta.ts';

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** How long shadow must have met no difference. */
export const defaultQuietMs = 10 * 60_000;

export function shadowFindings(meta: ClusterMeta, differences: number, quietMs: number, now: number): readonly Finding[] {
  const quietFor = now - Math.max(meta.modeSince, meta.differenceAt);
  return [
    { check: 'first lists', ok: isSynced(meta), detail: isSynced(meta) ? 'applied' : 'not complete' },
    {
      check: 'relay',
      ok: meta.heartbeatAt > 0 && now - meta.heartbeatAt < 90_000,
      detail: meta.heartbeatAt > 0 ? `last heard ${Math.round((now - meta.heartbeatAt) / 1000)} s ago` : 'never heard',
    },
    {
      check: 'shadow',
      ok: meta.mode === 'shadow' && differences === 0 && quietFor >= quietMs,
      detail:
        meta.mode !== 'shadow'
          ? `the cluster is ${meta.mode}`
          : differences > 0
            ? `${differences} services differ now`
            : `no difference for ${Math.round(quietFor / 1000)} s, ${Math.round(quietMs / 1000)} s are asked for`,
    },
  ];
}

/** The verbs that the writer needs (issue of its ClusterRole: infra/relay-rbac.ts). */
const needed = [
  ...['get', 'list', 'create', 'update', 'delete'].flatMap((verb) => [
    { verb, group: '', resource: 'endpoints' },
    { verb, group: 'discovery.k8s.io', resource: 'endpointslices' },
  ]),
  ...['get', 'list'].flatMap((verb) => ['services', 'pods'].map((resource) => ({ verb, group: '', resource }))),
  ...['create', 'patch'].map((verb) => ({ verb, group: '', resource: 'events' })),
];

export async function accessFindings(transport: Pick<HttpTransport, 'request'>): Promise<readonly Finding[]> {
  try {
    const denied: string[] = [];
    for (const { verb, group, resource } of needed) {
      const answer = await transport.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        body: JSON.stringify({
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb, group, resource } },
        }),
      });
      if (answer.status >= 300)
        throw new ClusterApiError(`the API server answers ${answer.status} to a SelfSubjectAccessReview`, { status: answer.status });
      const { status } = JSON.parse(answer.body.toString()) as { readonly status?: { readonly allowed?: boolean } };
      if (!status?.allowed) denied.push(`${verb} ${resource}`);
    }
    return [
      { check: 'reachable', ok: true, detail: 'the API server answers' },
      { check: 'rights', ok: denied.length === 0, detail: denied.length === 0 ? 'every verb is allowed' : `missing: ${denied.join(', ')}` },
    ];
  } catch (error) {
    return [{ check: 'reachable', ok: false, detail: error instanceof Error ? error.message : String(error) }];
  }
}

const canaryMs = 10_000;

/** A Service whose Endpoints nobody but kube-controller-manager would write. If they appear, its controllers are on. */
export async function controllersOff(api: ClusterApi, namespace: string, suffix: string, wait: (ms: number) => Promise<void>): Promise<Finding> {
  const name = `fleet-endpoints-canary-${suffix}`;
  const check = 'built-in controllers';
  try {
    await api.create('Service', { metadata: { name, namespace }, spec: { clusterIP: 'None', selector: { [name]: 'none' }, ports: [{ port: 1 }] } });
  } catch (error) {
    return {
      check,
      ok: false,
      detail: `not checked: no canary Service could be made in ${namespace} (${String(error)}); --controllers-off vouches for it`,
    };
  }
  try {
    for (let waited = 0; waited < canaryMs; waited += 500) {
      await wait(500);
      if (await api.get('Endpoints', namespace, name))
        return {
          check,
          ok: false,
          detail: 'kube-controller-manager made Endpoints for a canary Service: switch them off on every control-plane node',
        };
    }
    return { check, ok: true, detail: `a canary Service got no Endpoints within ${canaryMs / 1000} s` };
  } finally {
    await api.delete('Service', namespace, name).catch(() => false);
  }
}
