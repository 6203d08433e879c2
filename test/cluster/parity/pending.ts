import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { connectHub, type LocalAddresses, localHubFile } from '#infra/cli/hub/connect-hub.ts';
import { listClusters } from '#shared/clusters/record.ts';
import { parseWorkKey, shadowRecordsOf } from '#shared/store/keys.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import type { LocalRun } from '#test/support/local-run.ts';

/**
 * Returns the services with pending work in a local run. `failing` excludes services that wait for a retry.
 */
export async function pendingOf(run: LocalRun): Promise<(failing: boolean) => Promise<readonly string[]>> {
  const { table, cluster } = await clusterOf(run);
  return async (failing) => {
    const dirty = await table.queryDirty(cluster, Number.MAX_SAFE_INTEGER, 100);
    const services = await Promise.all(
      dirty.map(async ({ pk }) => {
        const { namespace, name: service } = parseWorkKey(pk);
        const work = await readWork(table, parseWorkKey(pk));
        const states = Object.values(work.parts);
        const isBackingOff =
          !work.lease && states.some((s) => s.failures > 0) && states.some((s) => s.retryDueMs > Date.now());
        return isClean(work) || (failing && isBackingOff) ? [] : [`${namespace}/${service}`];
      }),
    );
    return services.flat();
  };
}

/** The services that a run in shadow mode finds to differ, with their differences. */
export async function differencesOf(run: LocalRun): Promise<readonly string[]> {
  const { table, cluster } = await clusterOf(run);
  const items = await table.query(shadowRecordsOf(cluster));
  return items.filter((item) => item['confirmed'] === 1).map((item) => `${item.sk}: ${String(item['text'])}`);
}

async function clusterOf(run: LocalRun) {
  const [, console] = await run.line(/console at (\S+)/);
  const { table } = connectHub({ HUB: await hubAt(console as string) });
  const [cluster = ''] = await listClusters(table);
  return { table, cluster };
}

/** Several runs may be side by side on this machine: ours is the one with that console. */
async function hubAt(consoleUrl: string): Promise<string> {
  const folder = dirname(localHubFile(0));
  for (const file of await readdir(folder)) {
    const { consoleUrl: url } = JSON.parse(
      await readFile(join(folder, file), 'utf8').catch(() => '{}'),
    ) as Partial<LocalAddresses>;
    if (url === consoleUrl) return file.replace('.json', '');
  }
  throw new Error(`no local run has left its addresses with the console ${consoleUrl}`);
}
