/** Checks whether the hub may become this cluster's writer, before a switch to active. */

import { isSilent } from '#infra/cli/ask/explain/cluster-known.ts';
import { maxOverdueRuns, type OverdueRuns } from '#infra/cli/ask/overdue-runs.ts';
import { deletesEndpoints, type MissingRights, missingRights } from '#shared/clusters/api/permissions.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import type { RightsAnswer } from '#shared/clusters/writer/readiness.ts';
import { canaryName } from '#shared/contract/canary.ts';

export interface Check {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** How long shadow must have met no difference. */
export const defaultQuietMs = 10 * 60_000;

const readyForMs = 60 * 60_000;

/**
 * Returns whether every other check passed within the last hour, in this mode, so that only the cluster's own
 * controllers were left. While an operator switches these off, no controller writes, and shadow mode finds
 * differences. The time is not renewed within the hour, or the hour would never end.
 */
export const wasReady = ({ readiness, modeSwitch }: ClusterRecord, now: number): boolean =>
  readiness.readyAtMs > modeSwitch.atMs && now - readiness.readyAtMs < readyForMs;

/**
 * The differences that shadow mode found, and the runs that are overdue. A service without a successful
 * comparison counts as no difference.
 */
export interface Compared {
  readonly differences: number;
  readonly overdue: OverdueRuns;
}

export const shadowFindings = (
  cluster: ClusterRecord,
  compared: Compared,
  quietMs: number,
  now: number,
): readonly Check[] => [
  ...clusterFindings(cluster, now),
  { check: 'shadow', ...quiet(cluster, compared, quietMs, now) },
];

/** Does the snapshot follow the cluster? */
export function clusterFindings(cluster: ClusterRecord, now: number): readonly Check[] {
  return [
    { check: 'first lists', ok: hasSynced(cluster), detail: hasSynced(cluster) ? 'applied' : 'not complete' },
    {
      check: 'relay',
      ok: cluster.relay.heartbeatAtMs > 0 && !isSilent(cluster.relay.heartbeatAtMs, now),
      detail:
        cluster.relay.heartbeatAtMs > 0
          ? `last heartbeat ${Math.round((now - cluster.relay.heartbeatAtMs) / 1000)} s ago`
          : 'no heartbeat yet',
    },
  ];
}

/** Is what we compute what the cluster's own controllers write? */
function quiet(
  cluster: ClusterRecord,
  { differences, overdue }: Compared,
  quietMs: number,
  now: number,
): Omit<Check, 'check'> {
  if (cluster.mode === 'active')
    return { ok: true, detail: 'not required: it stopped because of a second writer' };
  if (cluster.modeSwitch.wasActive)
    return { ok: true, detail: 'not required: it was active until it was paused' };
  if (cluster.mode !== 'shadow')
    return { ok: false, detail: `the cluster is ${cluster.mode}, and was not active before` };
  if (wasReady(cluster, now)) {
    const ago = Math.round((now - cluster.readiness.readyAtMs) / 1000);
    return {
      ok: true,
      detail: `there was no difference at the check ${ago} s ago; since then the endpoints may be without a writer`,
    };
  }
  if (differences > 0) return { ok: false, detail: `${differences} services differ now` };
  if (cluster.modeSwitch.wakesPending || cluster.lists.suppressesWakeUps)
    return { ok: false, detail: 'some services have not been compared since the last switch' };
  if (overdue.services > 0) {
    const more = overdue.services === maxOverdueRuns ? ' or more' : '';
    return {
      ok: false,
      detail: `${overdue.services}${more} services have changed since their last comparison: a run is due for ${overdue.oldestSeconds} s`,
    };
  }
  const quietFor = now - Math.max(cluster.modeSwitch.atMs, cluster.readiness.differenceAtMs);
  return {
    ok: quietFor >= quietMs,
    detail: `no difference for ${Math.round(quietFor / 1000)} s, ${Math.round(quietMs / 1000)} s are required`,
  };
}

const builtInControllers = 'built-in controllers';

/** Do all checks pass but the one of the cluster's own controllers? */
export const onlyControllersLeft = (findings: readonly Check[]): boolean =>
  findings.every((f) => f.ok || f.check === builtInControllers);

export const declaredOff: Check = { check: builtInControllers, ok: true, detail: 'off, as you confirmed' };
export const notDeclaredOff: Check = {
  check: builtInControllers,
  ok: false,
  detail: 'switch them off on every control-plane node, then use --controllers-off',
};

export type AskedFor = 'active' | 'opt-in' | 'imports';
type AskedApi = Pick<ClusterApi, 'allows' | 'dryRunCreate'>;

export async function accessFindings(
  api: AskedApi,
  cluster: ClusterRecord,
  what: AskedFor = 'active',
): Promise<readonly Check[]> {
  try {
    return [
      { check: 'reachable', ok: true, detail: 'the API server answers' },
      rightsFinding(of(await missingRights(api, { imports: what === 'imports' }), cluster, what)),
    ];
  } catch (error) {
    return [
      { check: 'reachable', ok: false, detail: error instanceof Error ? error.message : String(error) },
    ];
  }
}

/** Sweep checks every few minutes; an older answer does not count. */
const maxRightsMs = 30 * 60_000;

/**
 * Returns the findings that sweep recorded. Sweep asks with the functions' identity, which has rights in the
 * cluster that the operator's may lack.
 */
export function recordedFindings(
  cluster: ClusterRecord,
  now: number,
  what: AskedFor = 'active',
): readonly Check[] {
  const { rights } = cluster.readiness;
  if (!rights || (!rights.error && !isAnswered(rights, what)) || now - rights.atMs > maxRightsMs) {
    return [{ check: 'rights', ok: false, detail: notKnown[what] }];
  }
  if (rights.error !== undefined)
    return [{ check: 'reachable', ok: false, detail: `sweep could not call it: ${rights.error}` }];
  return [
    { check: 'reachable', ok: true, detail: 'the API server answers the functions' },
    rightsFinding(of(rights, cluster, what)),
  ];
}

/** Sweep asks for imports in a clusterset alone. */
const isAnswered = ({ imports }: RightsAnswer, what: AskedFor): boolean =>
  what !== 'imports' || imports !== undefined;

const notKnown: { readonly [W in AskedFor]: string } = {
  active: 'unknown: sweep checks the cluster every ten minutes while the hub does not write to it',
  'opt-in': 'unknown: sweep checks a cluster in shadow mode, or with opt-in shadow, every ten minutes',
  imports: 'unknown: sweep checks a cluster of a set whose imports are not active every ten minutes',
};

function of(
  { missing, optIn, imports = [] }: MissingRights,
  { settings }: ClusterRecord,
  what: AskedFor,
): readonly string[] {
  if (what === 'active') return missing;
  if (what === 'imports') return imports;
  return optIn.filter((right) => settings.optInCleanup || right !== deletesEndpoints);
}

const rightsFinding = (missing: readonly string[]): Check => ({
  check: 'rights',
  ok: missing.length === 0,
  detail: missing.length === 0 ? 'every verb is allowed' : `missing: ${missing.join(', ')}`,
});

const canaryMs = 10_000;

/**
 * A canary Service whose Endpoints only kube-controller-manager would write: if they appear, its controllers
 * are on.
 */
export async function controllersOff(
  api: ClusterApi,
  namespace: string,
  suffix: string,
  wait: (ms: number) => Promise<void>,
): Promise<Check> {
  const name = canaryName(suffix);
  const check = builtInControllers;
  try {
    await api.create('Service', {
      metadata: { name, namespace },
      spec: { clusterIP: 'None', selector: { [name]: 'none' }, ports: [{ port: 1 }] },
    });
  } catch (error) {
    return {
      check,
      ok: false,
      detail: `not checked: no canary Service could be made in ${namespace} (${String(error)}); --controllers-off confirms it`,
    };
  }
  try {
    for (let waited = 0; waited < canaryMs; waited += 500) {
      await wait(500);
      if (await api.get('Endpoints', namespace, name))
        return {
          check,
          ok: false,
          detail:
            'kube-controller-manager made Endpoints for a canary Service: switch them off on every control-plane node',
        };
    }
    return { check, ok: true, detail: `a canary Service got no Endpoints within ${canaryMs / 1000} s` };
  } finally {
    await api.delete('Service', namespace, name).catch(() => false);
  }
}
