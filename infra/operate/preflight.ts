/** May this cluster's writer be us? Asked before a cluster goes active. */
import type { ClusterApi } from '#shared/cluster/port.ts';
import { missingRights } from '#shared/cluster/rights.ts';
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

export async function accessFindings(api: Pick<ClusterApi, 'allows'>): Promise<readonly Finding[]> {
  try {
    return [{ check: 'reachable', ok: true, detail: 'the API server answers' }, rightsFinding(await missingRights(api))];
  } catch (error) {
    return [{ check: 'reachable', ok: false, detail: error instanceof Error ? error.message : String(error) }];
  }
}

/** Sweep asks every few minutes; older than this it says nothing. */
const longestRightsMs = 30 * 60_000;

/** What sweep has found out as the functions themselves, where the cluster knows them and not us. */
export function recordedFindings({ rights }: ClusterMeta, now: number): readonly Finding[] {
  if (!rights || now - rights.at > longestRightsMs) {
    return [{ check: 'rights', ok: false, detail: 'not known yet: sweep asks the cluster every ten minutes while it is in shadow mode' }];
  }
  if (rights.error !== undefined) return [{ check: 'reachable', ok: false, detail: `sweep could not ask it: ${rights.error}` }];
  return [{ check: 'reachable', ok: true, detail: 'the API server answers the functions' }, rightsFinding(rights.missing)];
}

const rightsFinding = (missing: readonly string[]): Finding => ({
  check: 'rights',
  ok: missing.length === 0,
  detail: missing.length === 0 ? 'every verb is allowed' : `missing: ${missing.join(', ')}`,
});

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
