/** `npm run cluster -- opt-in CLUSTER off|shadow|active`: the switch for Services that opt in by annotation, audited, in effect within seconds. */
import { userInfo } from 'node:os';
import { recordAudit } from '#shared/clusters/audit.ts';
import { isDeregistered } from '#shared/clusters/mode.ts';
import { switchOptIn } from '#shared/clusters/mode-switch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { isOptIn, optIns } from '#shared/opt-in/writer.ts';
import type { Table } from '#shared/store/table.ts';
import { say } from './printable.ts';
import { UsageError } from './usage-error.ts';

export interface OptInSwitch<H> {
  readonly id: string | undefined;
  readonly optIn: string | undefined;
  readonly reason: string;
  /** Wakes the cluster's services, and says how many. */
  readonly wake: (hub: H, id: string) => Promise<string>;
}

export async function switchServicesThatOptIn<H extends { readonly table: Table; readonly now: () => number; readonly name: string }>(
  hub: H,
  { id, optIn, reason, wake }: OptInSwitch<H>,
): Promise<void> {
  if (!id || !isOptIn(optIn)) throw new UsageError(`npm run cluster -- opt-in CLUSTER ${optIns.join('|')}; ${JSON.stringify(optIn ?? '')} was given`);
  const meta = await readCluster(hub.table, id);
  if (!meta) throw new UsageError(`${id} is not a cluster of this hub`);
  if (isDeregistered(meta)) throw new UsageError(`${id} has left and is not written to: put it into clusters.yaml again and deploy to have it back`);
  if (optIn === 'active' && !meta.api) throw new UsageError(`${id} has no api to write to: off and shadow are allowed without one`);
  console.error(`opt-in on ${hub.name}`);
  const now = hub.now();
  if (!(await switchOptIn(hub.table, id, optIn, now))) throw new UsageError(`${id} has left meanwhile`);
  const what = `opt-in ${meta.optIn} → ${optIn}${reason && `: ${reason}`}`;
  await recordAudit(hub.table, id, { at: new Date(now).toISOString(), who: userInfo().username, what });
  say(`${id}  opt-in ${meta.optIn} → ${optIn}${meta.mode === 'paused' ? ' (the cluster is paused)' : `, ${await wake(hub, id)}`}`);
  if (meta.optIn === 'active' && optIn !== 'active')
    say(`${id}  slices of Services that opt in stay as they are, and follow their pods no more: to be rid of them, remove the annotations first`);
}
