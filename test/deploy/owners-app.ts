import assert from 'node:assert/strict';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pack } from '#test/package/installed.ts';
import type { Deployment } from './deployment.ts';
import { eventually, run } from './operator.ts';
import type { Step } from './step.ts';

/** A cluster's stack in its owner's app: the package is installed from its archive into a folder outside of this tree. */
export function ownersApp(hub: Deployment): Step {
  return {
    fact: 'an app outside of the tree installs the package and deploys a cluster of its own to the hub that it knows by outputs, and takes it away',
    async check() {
      const folder = join(hub.folder, 'owners-app');
      await cp('test/deploy/owners-app', folder, { recursive: true });
      const archive = await pack(join(hub.folder, 'packed'));
      await run('npm', ['install', '--no-audit', '--no-fund', '--omit=optional', '--prefix', folder, archive]);
      // The CDK is this checkout's: what fits templates to the local cloud knows the constructs by their classes.
      await mkdir(join(folder, 'node_modules'), { recursive: true });
      for (const peer of ['aws-cdk-lib', 'constructs']) await symlink(resolve('node_modules', peer), join(folder, 'node_modules', peer));
      const app = `${process.execPath} ${join(folder, 'app.mjs')}`;
      const deployed = await hub.cdkOf(app, folder, 'deploy', '--all', '--require-approval', 'never');
      assert.match(deployed, /TeamCluster/);
      const listed = (): Promise<string> => hub.cluster('list');
      assert.match(await listed(), /^team +shadow /m);
      await assert.doesNotReject(hub.cloud.call('sqs', 'get_queue_url', { QueueName: `${hub.name}-team-events` }));
      await hub.cdkOf(app, folder, 'destroy', '--all', '--force');
      await eventually('team drains', async () => /^team +(draining|removed)/m.test(await listed()));
    },
  };
}
