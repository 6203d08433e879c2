import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClusterInput } from '#infra/aws/constructs/props.ts';
import type { HubConfig, VpcConfig } from '#infra/config/config.ts';
import { run } from '#test/e2e/deploy/operator.ts';
import { installApp } from '#test/e2e/deploy/package-folder.ts';
import type { Environment, LocalCloud } from '#test/support/aws/local-cloud.ts';

export interface OwnersStack {
  readonly hub: Partial<Pick<HubConfig, 'name' | 'rollout' | 'capacity'>>;
  readonly vpc: VpcConfig;
  readonly clusters: readonly ClusterInput[];
  /** The address of STS for a function, by its stage. */
  readonly stsOf: Environment;
}

/** A resource that the local cloud's CloudFormation does not make. */
export interface EksResource {
  readonly stack: string;
  readonly type: string;
  readonly properties: { readonly [name: string]: unknown };
}

/**
 * An app outside of the tree, with the package installed. Each of its hubs is a stack of the package's
 * constructs.
 */
export class OwnersApp {
  readonly cloud: LocalCloud;
  readonly folder: string;
  /** The relay's program, of the package. */
  readonly relayProgram: string;
  readonly env: Environment;
  readonly #stacks = new Map<string, OwnersStack>();

  constructor(cloud: LocalCloud, folder: string) {
    this.cloud = cloud;
    this.folder = folder;
    this.relayProgram = join(folder, 'node_modules/fleet-endpoints/dist/relay/relay.mjs');
    this.env = {
      ...cloud.administrator,
      HOME: folder,
      CDK_HOME: join(folder, 'cdk'),
      CDK_DISABLE_CLI_TELEMETRY: 'true',
    };
  }

  install(): Promise<void> {
    return installApp('test/e2e/deploy/owners-hub', this.folder);
  }

  bootstrap(): Promise<unknown> {
    return this.#cdk('bootstrap', `aws://${this.cloud.account}/${this.cloud.region}`);
  }

  /** Deploys one stack, which the app has beside its former ones, and returns its resources of EKS. */
  async deploy(name: string, stack: OwnersStack): Promise<readonly EksResource[]> {
    this.#stacks.set(name, stack);
    await writeFile(join(this.folder, 'fleet.json'), JSON.stringify(Object.fromEntries(this.#stacks)));
    await this.#cdk('deploy', name, '--require-approval', 'never', '--outputs-file', this.outputsFile(name));
    const resources = JSON.parse(
      await readFile(join(this.folder, 'eks.json'), 'utf8'),
    ) as readonly EksResource[];
    return resources.filter((resource) => resource.stack === name);
  }

  destroy(): Promise<unknown> {
    return this.#cdk('destroy', '--all', '--force');
  }

  outputsFile(stack: string): string {
    return join(this.folder, `${stack}-outputs.json`);
  }

  #cdk(...args: readonly string[]): Promise<unknown> {
    const app = `${process.execPath} ${join(this.folder, 'app.mjs')}`;
    const told = {
      ACCOUNT: this.cloud.account,
      REGION: this.cloud.region,
      FIT: fileURLToPath(import.meta.resolve('#infra/aws/stacks/emulator.ts')),
    };
    const options = ['--no-notices', '--no-color', '--output', join(this.folder, 'cdk.out')];
    const which = args[0] === 'bootstrap' ? [] : ['--app', app];
    return run(resolve('node_modules/.bin/cdk'), [...args, ...which, ...options], {
      env: { ...this.env, ...told },
      cwd: this.folder,
    });
  }
}

/** A hub of the app, and its operator's commands by the installed package. */
export class OwnersHub {
  readonly app: OwnersApp;
  readonly name: string;
  readonly stack: string;

  constructor(app: OwnersApp, name: string, stack: string) {
    this.app = app;
    this.name = name;
    this.stack = stack;
  }

  /** Returns the ARN of a function's role, known before the deploy. */
  roleArn(stage: 'worker' | 'sweep'): string {
    return `arn:aws:iam::${this.app.cloud.account}:role/${this.name}-${this.app.cloud.region}-${stage}`;
  }

  deploy({ hub, clusters, ...others }: OwnersStack): Promise<readonly EksResource[]> {
    return this.app.deploy(this.stack, {
      hub: { ...hub, name: this.name, rollout: 'at-once' },
      clusters,
      ...others,
    });
  }

  /** Value of the stack's only output whose name contains the parts, in this order. */
  async output(...parts: readonly string[]): Promise<string> {
    const all = JSON.parse(await readFile(this.app.outputsFile(this.stack), 'utf8')) as {
      readonly [stack: string]: Environment;
    };
    const found = Object.entries(all[this.stack] ?? {}).filter(([name]) =>
      new RegExp(parts.join('.*')).test(name),
    );
    if (found.length !== 1)
      throw new Error(`${found.length} outputs are of ${parts}: ${Object.keys(all[this.stack] ?? {})}`);
    return found[0]?.[1] ?? '';
  }

  relayRole(id: string): Promise<string> {
    return this.output('Cluster', id, 'RelayRoleArn');
  }

  /** Runs the installed command in the owner's folder. */
  async command(...args: readonly string[]): Promise<string> {
    const env = { ...this.app.env, TABLE_NAME: await this.output('TableName') };
    const { stdout } = await run(join(this.app.folder, 'node_modules/.bin/fleet-endpoints'), args, {
      env,
      cwd: this.app.folder,
    });
    return stdout;
  }

  /** By the stack's outputs, without a clusters file. */
  manifest(id: string): Promise<string> {
    return this.command(
      'relay',
      'manifest',
      id,
      '--quick-start',
      '--outputs',
      this.app.outputsFile(this.stack),
    );
  }
}
