import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pack } from '#test/e2e/package/installed.ts';
import { run } from './operator.ts';

/** Copies an app into a folder outside of this tree, and installs the package there from its archive. */
export async function installApp(app: string, folder: string): Promise<void> {
  await cp(app, folder, { recursive: true });
  const archive = await pack(join(folder, '..', 'packed'));
  await run('npm', ['install', '--no-audit', '--no-fund', '--omit=optional', '--prefix', folder, archive]);
  // The CDK is this checkout's: what fits templates to the local cloud knows the constructs by their classes.
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  for (const peer of ['aws-cdk-lib', 'constructs'])
    await symlink(resolve('node_modules', peer), join(folder, 'node_modules', peer));
}
