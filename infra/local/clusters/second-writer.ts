/** Checks that the built-in controllers of a cluster are off, before a local run writes in their place. */
import { setTimeout as sleep } from 'node:timers/promises';
import { controllersOff } from '#infra/cli/ask/readiness/preflight.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import { fieldManager } from '#shared/kube/names.ts';
import type { Connections } from './connection-files.ts';

/**
 * Makes a canary Service in namespace `default` of each cluster, and deletes it after ten seconds. Throws a
 * UsageError if a controller writes Endpoints for it.
 */
export async function refuseSecondWriter(
  connections: Connections,
  wait: (ms: number) => Promise<void> = (ms) => sleep(ms),
): Promise<void> {
  const findings = await Promise.all(
    Object.entries(connections).map(async ([id, connection]) => {
      const api = httpsClusterApi(connection, { fieldManager });
      try {
        return { id, ...(await controllersOff(api, 'default', Date.now().toString(36), wait)) };
      } finally {
        api.close();
      }
    }),
  );
  const refused = findings.filter(({ ok }) => !ok).map(({ id, detail }) => `${id}: ${detail}`);
  if (refused.length === 0) return;
  throw new UsageError(
    `--mode active would be a second writer. ${refused.join('; ')}. Start without --mode to compare only`,
  );
}
