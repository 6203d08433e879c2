/**
 * Checks whether a cluster is ready for `active`: prints every finding, and refuses the switch if one of them
 * is not ok.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readOverdueRuns } from '#infra/cli/ask/overdue-runs.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isActiveWithoutConflict } from '#shared/clusters/writer/mode.ts';
import { recordReady } from '#shared/clusters/writer/readiness.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import { localApi, printChecks, rightsFindings } from './ask-cluster.ts';
import {
  accessFindings,
  type Check,
  controllersOff,
  declaredOff,
  notDeclaredOff,
  onlyControllersLeft,
  shadowFindings,
  wasReady,
} from './preflight.ts';

export interface ReadyCheck {
  /** For how long there must have been no difference. */
  readonly quietMs: number;
  /** Where it looks for controllers that still run. */
  readonly namespace: string;
  readonly controllersDeclaredOff: boolean;
}

export async function checkReady(hub: Hub, cluster: ClusterRecord, check: ReadyCheck): Promise<void> {
  if (isActiveWithoutConflict(cluster)) return;
  const findings = await preflight(hub, cluster, check);
  if (printChecks(cluster.id, findings)) return;
  if (!onlyControllersLeft(findings))
    throw new UsageError(`${cluster.id} stays ${cluster.mode}: see above; --override switches it anyway`);
  if (!wasReady(cluster, hub.now())) await recordReady(hub.table, cluster.id, hub.now());
  throw new UsageError(
    `${cluster.id} stays ${cluster.mode} until its own controllers are off; differences within the next hour do not count, because no controller writes`,
  );
}

async function preflight(
  hub: Hub,
  cluster: ClusterRecord,
  { quietMs, namespace, controllersDeclaredOff }: ReadyCheck,
): Promise<readonly Check[]> {
  const [differences, overdue] = await Promise.all([
    countDifferences(hub.table, cluster.id),
    readOverdueRuns(hub.table, cluster, hub.now()),
  ]);
  const shadow = shadowFindings(cluster, { differences, overdue }, quietMs, hub.now());
  const api = await localApi(hub, cluster.id);
  if (!api)
    return [
      ...shadow,
      ...(await rightsFindings(hub, cluster, 'active')),
      controllersDeclaredOff ? declaredOff : notDeclaredOff,
    ];
  try {
    const off = controllersDeclaredOff
      ? declaredOff
      : await controllersOff(api, namespace, Date.now().toString(36), (ms) => sleep(ms));
    return [...shadow, ...(await accessFindings(api, cluster)), off];
  } finally {
    api.close();
  }
}
