/**
 * CloudFormation's create, update and delete of a cluster's resource, as changes of the cluster's records.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { type AuditRecord, recordAudit } from '#shared/clusters/audit.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import {
  giveUpAccess,
  PurgeInProgress,
  type Registration,
  registerCluster,
} from '#shared/clusters/registration.ts';
import type { Mode } from '#shared/clusters/writer/mode.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { registrationProperty } from '#shared/contract/registration-property.ts';
import type { Table } from '#shared/store/table.ts';
import { registrationParts } from '#shared/wing.ts';

/** By then a run of sweep that purges the former cluster's records has ended. */
const maxWaitMs = 70_000;
const waitMs = 5000;

/**
 * Resolves to the resource's physical id, which is the cluster's id. CloudFormation treats a changed id as a
 * replacement and deletes the former resource, which drains the former cluster.
 */
export async function applyRegistration(
  table: Table,
  event: CloudFormationCustomResourceEvent,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<string> {
  const audit = (id: string, what: string, change: Pick<AuditRecord, 'mode'> = {}): Promise<void> =>
    recordAudit(table, id, {
      at: new Date().toISOString(),
      who: `CloudFormation, ${event.StackId}`,
      what,
      ...change,
    });
  if (event.RequestType === 'Delete') {
    const id = event.PhysicalResourceId;
    const mode = (await readCluster(table, id))?.mode ?? 'shadow';
    if (await drainCluster(table, id, Date.now()))
      await audit(id, 'taken out: draining, its endpoints stay as they are', {
        mode: { from: mode, to: 'draining' },
      });
    await giveUpAccess(table, id);
    return id;
  }
  const registration = JSON.parse(String(event.ResourceProperties[registrationProperty])) as Registration;
  const { id } = registration;
  const before = switchesText(await readCluster(table, id));
  const left = await registerWhenCleared(table, registration, wait);
  if (left) await audit(id, `${left} → ${registration.mode} (added again)`);
  const after = switchesText(await readCluster(table, id));
  if (after !== before) await audit(id, `${before} → ${after} (clusters.yaml)`);
  return id;
}

/** The switches as text for the audit. A deploy that changes them is recorded like a switch by hand. */
const switchesText = (cluster: ClusterRecord | undefined): string =>
  registrationParts.map((part) => part.switchesText(cluster)).join(', ');

async function registerWhenCleared(
  table: Table,
  registration: Registration,
  wait: (ms: number) => Promise<unknown>,
): Promise<Mode | undefined> {
  for (let waited = 0; ; waited += waitMs) {
    try {
      return await registerCluster(table, registration, Date.now());
    } catch (error) {
      if (!(error instanceof PurgeInProgress) || waited >= maxWaitMs) throw error;
      await wait(waitMs);
    }
  }
}
