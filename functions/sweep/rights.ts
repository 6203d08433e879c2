/** While we do not write: may we do what active mode needs? Asked as the functions' own role, which whoever switches the mode can't be everywhere. */
import { missingRights } from '#shared/cluster/rights.ts';
import { metaKey } from '#shared/snapshot/keys.ts';
import { type ClusterMeta, mayWrite } from '#shared/snapshot/meta.ts';
import type { SweepDeps } from './deps.ts';

const everyMs = 10 * 60_000;

export async function askRights(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  const at = deps.now();
  if (mayWrite(meta) || !meta.api || (meta.rights && at - meta.rights.at < everyMs)) return;
  const rights = await found(deps, meta);
  await deps.table.update(
    metaKey(meta.id),
    { set: { rights: JSON.stringify({ at, ...rights }) } },
    { attribute: 'epoch', is: '=', value: meta.epoch },
  );
}

async function found(deps: SweepDeps, meta: ClusterMeta): Promise<{ readonly missing: readonly string[]; readonly error?: string }> {
  try {
    return { missing: await missingRights(await deps.cluster(meta)) };
  } catch (error) {
    return { missing: [], error: error instanceof Error ? error.message : String(error) };
  }
}
