import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { Environment, LocalCloud } from '#test/support/aws/local-cloud.ts';
import { functionLog } from './function-log.ts';
import { run } from './operator.ts';
import { issuer, type ServedCluster } from './served-cluster.ts';

/** A cluster of the configuration without a relay. */
export interface UnservedCluster {
  readonly id: string;
  readonly url: string;
  readonly ca: string | undefined;
  readonly secretArn: string;
}

/** A hub, and an administrator's actions on it by the commands of docs/operate/getting-started.md. */
export class Deployment {
  readonly name: string;
  readonly cloud: LocalCloud;
  readonly folder: string;
  readonly clustersFile: string;
  readonly #outputsFile: string;
  readonly #env: Environment;

  constructor(name: string, cloud: LocalCloud, folder: string) {
    this.name = name;
    this.cloud = cloud;
    this.folder = folder;
    this.clustersFile = join(folder, `${name}-clusters.yaml`);
    this.#outputsFile = join(folder, `${name}-outputs.json`);
    // The CDK keeps what it knows of accounts, by access key, in its home.
    this.#env = {
      ...cloud.administrator,
      HOME: folder,
      CDK_HOME: join(folder, 'cdk'),
      CDK_DISABLE_CLI_TELEMETRY: 'true',
    };
  }

  async cdk(...args: readonly string[]): Promise<string> {
    const options = [
      '--no-notices',
      '--no-color',
      '--output',
      join(this.folder, `${this.name}-cdk.out`),
      '-c',
      'emulator=1',
      '-c',
      `clusters=${this.clustersFile}`,
    ];
    const { stdout, stderr } = await run('node_modules/.bin/cdk', [...args, ...options], { env: this.#env });
    return `${stdout}\n${stderr}`;
  }

  /** The same for an app in another folder, which gets the hub's address. */
  async cdkOf(app: string, folder: string, ...args: readonly string[]): Promise<string> {
    const told = {
      HUB_NAME: this.name,
      HUB_OUTPUTS: this.#outputsFile,
      ACCOUNT: this.cloud.account,
      REGION: this.cloud.region,
      FIT: fileURLToPath(import.meta.resolve('#infra/aws/stacks/emulator.ts')),
    };
    const options = ['--no-notices', '--no-color', '--app', app, '--output', join(folder, 'cdk.out')];
    const { stdout, stderr } = await run('node_modules/.bin/cdk', [...args, ...options], {
      env: { ...this.#env, ...told },
    });
    return `${stdout}\n${stderr}`;
  }

  /** As `npm run deploy`, which deploys twenty stacks at once. */
  deploy(): Promise<string> {
    return this.cdk(
      'deploy',
      '--all',
      '--concurrency',
      '20',
      '--require-approval',
      'never',
      '--outputs-file',
      this.#outputsFile,
    );
  }

  /** Runs a command of fleet-endpoints, for the deployed hub if `hub` chooses it. */
  async command(
    name: string,
    args: readonly string[],
    hub: 'for the hub' | 'no hub' = 'no hub',
  ): Promise<string> {
    const env =
      hub === 'for the hub'
        ? { ...this.#env, TABLE_NAME: (await this.outputs(this.hubStack))['TableName'] ?? '' }
        : this.#env;
    return (
      await run(process.execPath, ['infra/cli/command/fleet-endpoints.main.ts', name, ...args], { env })
    ).stdout;
  }

  cluster(...args: readonly string[]): Promise<string> {
    return this.command('cluster', args, 'for the hub');
  }

  /** By what `npm run deploy` has written. */
  register(): Promise<string> {
    return this.cluster('register', '--all', '--clusters', this.clustersFile, '--outputs', this.#outputsFile);
  }

  async outputs(stack: string): Promise<{ readonly [name: string]: string }> {
    return JSON.parse(await readFile(this.#outputsFile, 'utf8'))[stack] ?? {};
  }

  get hubStack(): string {
    return `${this.name}-hub`;
  }

  get snapshotStack(): string {
    return `${this.name}-snapshot`;
  }

  clusterStack(id: string): string {
    return `${this.name}-cluster-${id}`;
  }

  manifest(id: string, ...how: readonly string[]): Promise<string> {
    const files = [
      '--clusters',
      this.clustersFile,
      '--outputs',
      this.#outputsFile,
      '--region',
      this.cloud.region,
    ];
    return this.command('relay', ['manifest', id, ...how, ...files]);
  }

  /** The log of the functions of every hub since then (ms since the epoch), in order. */
  logLines(startTime = 0): Promise<readonly string[]> {
    return functionLog(this.cloud, startTime);
  }

  /**
   * Writes clusters.yaml with these clusters, and with clusters without a relay whose API servers are at the
   * URLs.
   */
  configure(served: readonly ServedCluster[], unserved: readonly UnservedCluster[] = []): void {
    const { account, region } = this.cloud;
    const identity = { type: 'irsa', oidcProviderArn: `arn:aws:iam::${account}:oidc-provider/${issuer}` };
    const entry = (
      id: string,
      api: { readonly url: string; readonly ca?: string | undefined },
      secretArn: string,
    ) => ({
      id,
      concurrency: { ingest: 2, sync: 2 },
      api: { ...api, auth: { type: 'secret', secretArn } },
      relay: { identity },
    });
    const clusters = [
      ...served.map(({ id, secretArn, controlPlane: { connection } }) =>
        entry(id, { url: connection.server, ca: connection.ca }, secretArn),
      ),
      ...unserved.map(({ id, url, ca, secretArn }) => entry(id, { url, ca }, secretArn)),
    ];
    writeFileSync(this.clustersFile, stringify({ hub: { name: this.name, account, region }, clusters }));
  }
}
