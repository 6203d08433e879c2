/** While we do not write: may we do what active mode needs? Asked as the functions' own role, which whoever switches the mode can't be everywhere. */
import { missingRights } from '#shared/cluster/rights.ts';
import { mayWrite } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { SweepDeps } from './deps.ts';

const minuteMs = 60_000;

/**
 * The clusters to ask, those first whose answer is the oldest. No more a minute than it takes to ask all of them within half the time that an
 * answer holds: a fleet that was entered or paused in one minute is not asked in one minute, ever again.
 */
export function toAsk(deps: SweepDeps, clusters: readonly ClusterRecord[]): readonly ClusterRecord[] {
  const { rightsEveryMs } = limitsOf(deps).sweep;
  const asked = clusters.filter((meta) => !mayWrite(meta) && meta.api);
  const due = asked.filter(({ rights }) => !rights || deps.now() - rights.at >= rightsEveryMs);
  const share = Math.max(10, Math.ceil((2 * minuteMs * asked.length) / rightsEveryMs));
  return due.sort((a, b) => (a.rights?.at ?? 0) - (b.rights?.at ?? 0)).slice(0, share);
}

export async function askRights(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  const at = deps.now();
  const rights = await found(deps, meta);
  await deps.table.update(
    metaKey(meta.id),
    { set: { rights: JSON.stringify({ at, ...rights }) } },
    { attribute: 'epoch', is: '=', value: meta.switchCount },
  );
}

async function found(deps: SweepDeps, meta: ClusterRecord): Promise<{ readonly missing: readonly string[]; readonly error?: string }> {
  try {
    return { missing: await missingRights(await deps.cluster(meta)) };
  } catch (error) {
    return { missing: [], error: error instanceof Error ? error.message : String(error) };
  }
}
