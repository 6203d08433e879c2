import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { ClusterInput, HubInput } from '#infra/constructs/props.ts';
import { run } from '#test/deploy/operator.ts';
import { installApp } from '#test/deploy/package-folder.ts';
import type { Environment, LocalCloud } from '#test/support/local-cloud.ts';

/** A hub of an app outside of the tree, made by the package's constructs, and its owner's commands by the installed package. */
export class OwnersHub {
  readonly name: string;
  readonly cloud: LocalCloud;
  readonly folder: string;
  /** The relay's program, of the package. */
  readonly relayProgram: string;
  readonly #env: Environment;

  constructor(name: string, cloud: LocalCloud, folder: string) {
    this.name = name;
    this.cloud = cloud;
    this.folder = folder;
    this.relayProgram = join(folder, 'node_modules/fleet-endpoints/dist/relay/relay.mjs');
    this.#env = { ...cloud.administrator, HOME: folder, CDK_HOME: join(folder, 'cdk'), CDK_DISABLE_CLI_TELEMETRY: 'true' };
  }

  /** ARN of a function's role, which is known before the deploy. */
  roleArn(stage: 'sync' | 'sweep'): string {
    return `arn:aws:iam::${this.cloud.account}:role/${this.name}-${this.cloud.region}-${stage}`;
  }

  install(): Promise<void> {
    return installApp('test/deploy/owners-hub', this.folder);
  }

  /** `stsOf`: the address of STS for a function, by its stage. */
  async deploy(hub: HubInput, clusters: readonly ClusterInput[], stsOf: Environment): Promise<void> {
    await writeFile(join(this.folder, 'fleet.json'), JSON.stringify({ hub: { ...hub, name: this.name, rollout: 'at-once' }, clusters }));
    // For the relay's manifest.
    await writeFile(join(this.folder, 'clusters.yaml'), stringify({ hub: { name: this.name }, clusters }));
    await this.#cdk(
      { STS_OF: JSON.stringify(stsOf) },
      'deploy',
      '--all',
      '--require-approval',
      'never',
      '--outputs-file',
      join(this.folder, 'outputs.json'),
    );
  }

  bootstrap(): Promise<unknown> {
    return this.#cdk({}, 'bootstrap', `aws://${this.cloud.account}/${this.cloud.region}`);
  }

  #cdk(env: Environment, ...args: readonly string[]): Promise<unknown> {
    const app = `${process.execPath} ${join(this.folder, 'app.mjs')}`;
    const told = { ACCOUNT: this.cloud.account, REGION: this.cloud.region, FIT: fileURLToPath(import.meta.resolve('#infra/stacks/emulator.ts')) };
    const options = ['--no-notices', '--no-color', '--output', join(this.folder, 'cdk.out')];
    const which = args[0] === 'bootstrap' ? [] : ['--app', app];
    return run(resolve('node_modules/.bin/cdk'), [...args, ...which, ...options], { env: { ...this.#env, ...told, ...env }, cwd: this.folder });
  }

  /** Value of the stack's only output whose name contains the parts, in this order. */
  async output(...parts: readonly string[]): Promise<string> {
    const { Platform } = JSON.parse(await readFile(join(this.folder, 'outputs.json'), 'utf8')) as { readonly Platform: Environment };
    const found = Object.entries(Platform).filter(([name]) => new RegExp(parts.join('.*')).test(name));
    if (found.length !== 1) throw new Error(`${found.length} outputs are of ${parts}: ${Object.keys(Platform)}`);
    return found[0]?.[1] ?? '';
  }

  /** Runs the installed command in the owner's folder. */
  async command(...args: readonly string[]): Promise<string> {
    const env = { ...this.#env, TABLE_NAME: await this.output('TableName') };
    const { stdout } = await run(join(this.folder, 'node_modules/.bin/fleet-endpoints'), args, { env, cwd: this.folder });
    return stdout;
  }

  async manifest(id: string): Promise<string> {
    const [queue, role] = await Promise.all(['EventsQueueUrl', 'RelayRoleArn'].map((name) => this.output('Cluster', id.replace(/-/g, ''), name)));
    return this.command(
      'relay',
      'manifest',
      id,
      '--quick-start',
      '--queue-url',
      queue ?? '',
      '--role-arn',
      role ?? '',
      '--region',
      this.cloud.region,
    );
  }
}
