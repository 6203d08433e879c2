import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Deployment } from './deployment.ts';
import { eventually } from './operator.ts';
import { installApp } from './package-folder.ts';
import type { Step } from './step.ts';

/**
 * A cluster's stack in its owner's app: the package is installed from its archive into a folder outside of
 * this tree.
 */
export function ownersApp(hub: Deployment): Step {
  return {
    fact: 'an app outside of the tree installs the package and deploys a cluster of its own to the hub that it knows by outputs, and takes it away',
    async check() {
      const folder = join(hub.folder, 'owners-app');
      await installApp('test/e2e/deploy/owners-app', folder);
      const app = `${process.execPath} ${join(folder, 'app.mjs')}`;
      const deployed = await hub.cdkOf(app, folder, 'deploy', '--all', '--require-approval', 'never');
      assert.match(deployed, /TeamCluster/);
      const listed = (): Promise<string> => hub.cluster('list');
      assert.match(await listed(), /^team +shadow /m);
      await assert.doesNotReject(
        hub.cloud.call('sqs', 'get_queue_url', { QueueName: `${hub.name}-team-events` }),
      );
      await hub.cdkOf(app, folder, 'destroy', '--all', '--force');
      await eventually('team drains', async () => /^team +(draining|removed)/m.test(await listed()));
    },
  };
}
