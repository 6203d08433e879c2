/**
 * `cluster imports CLUSTER [off|shadow|active]`: switches whether a cluster imports the exports of the other
 * clusters of its set. The switch is audited, and takes effect within seconds. Without a value the command
 * prints the cluster's state in the set. `active` checks the writer's rights first; `off --withdraw` has sync
 * delete the imported objects first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { requireRights } from '#infra/cli/ask/readiness/ask-cluster.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { importLines } from '#infra/clusterset/ask/import-lines.ts';
import { otherSetsLines } from '#infra/clusterset/ask/imports-of-other-sets.ts';
import type { Imports } from '#shared/clusterset/contract/clusterset-settings.ts';
import {
  isMember,
  membershipOf,
  saveMembership,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { importManagedBy } from '#shared/kube/names.ts';
import { memberLines, memberOf, noteSwitch, type SetSwitchOptions } from './clusterset-member.ts';
import { withdrawImports } from './imports-withdraw.ts';

export interface ImportsOptions extends SetSwitchOptions {
  readonly imports: Imports | undefined;
  readonly withdraw?: boolean;
  /** How long a withdrawal is waited for, ms. */
  readonly waitFor?: number;
}

const defaultWaitMs = 10 * 60_000;

/** `wake` enqueues the cluster's services, and resolves to a text with their number. */
export async function importsCommand(
  hub: Hub,
  options: ImportsOptions,
  wake: (id: string) => Promise<string>,
  wait = sleep,
): Promise<void> {
  const { imports, override = false, withdraw = false, waitFor = defaultWaitMs } = options;
  if (withdraw && imports !== 'off')
    throw new UsageError('--withdraw goes with off: imports CLUSTER off --withdraw');
  const cluster = await memberOf(hub, options.id);
  const { id, mode } = cluster;
  const membership = membershipOf(cluster);
  if (imports === undefined)
    return say(
      ...memberLines(cluster),
      ...(await importLines(hub.table, cluster)),
      ...(await otherSetsLines(hub.table, cluster)),
    );
  console.error(`imports on ${hub.name}`);
  if (!isMember(cluster))
    throw new UsageError(`${id} is in no clusterset: ${toLetIn(id, 'imports: shadow')}`);
  if (imports === 'active' && !override)
    await requireRights(hub, cluster, {
      what: 'imports',
      toAllow: `put imports: shadow or active into clusters.yaml, and apply relay manifest ${id}`,
      refusal: `keeps imports ${membership.imports}`,
    });
  if (imports !== 'off') for (const line of await otherSetsLines(hub.table, cluster)) say(line);
  if (withdraw) {
    const note = (what: string) => noteSwitch(hub, options, what);
    await withdrawImports(cluster, {
      table: hub.table,
      now: hub.now,
      wait,
      maxMs: waitFor,
      note,
      wake: () => wake(id),
    });
  }
  const { withdraws: _, ...kept } = membership;
  const former = membership.imports;
  if (!(await saveMembership(hub.table, id, { ...kept, imports })))
    throw new UsageError(`${id} was deregistered meanwhile`);
  await noteSwitch(hub, options, `imports ${former} → ${imports}`);
  say(
    `${id}  imports ${former} → ${imports}${mode === 'paused' ? ' (the cluster is paused)' : `, ${await wake(id)}`}`,
  );
  if (former === 'active' && imports !== 'active' && !withdraw) {
    const { key, value } = importManagedBy;
    say(
      `${id}  its imports stay as they are, and no longer follow their sources; imports ${id} off --withdraw deletes it, or kubectl delete serviceimports -A -l ${key}=${value}`,
    );
  }
}

export const toLetIn = (id: string, what: string): string =>
  `give it ${what} in clusters.yaml (and the hub a clusterset), deploy, and apply relay manifest ${id}`;
