/** The processes of a local run, with the environment of each. */

import type { QueueUrls } from '#shared/clusters/record.ts';
import { hubEnv, relayEnv } from '#shared/contract/env.ts';
import type { ConnectionFiles } from '../clusters/connection-files.ts';
import { childEnv } from './child-process.ts';
import { compileCache } from './compile-cache.ts';
import type { ChildSpec } from './supervisor.ts';

export const region = 'eu-west-1';
export const tableName = 'fleet-endpoints';

type Env = { readonly [name: string]: string };

export interface LocalHub {
  readonly tableUrl: string;
  readonly queuesUrl: string;
  readonly queues: { readonly [cluster: string]: QueueUrls };
  readonly connections: Pick<ConnectionFiles, 'all' | 'of'>;
}

export const tableProcess = (dataDir: string): ChildSpec => ({
  name: 'table',
  entry: 'infra/local/table/table.main.ts',
  env: child({ [childEnv.dataDir]: dataDir }),
});
export const queuesProcess = (dataDir: string): ChildSpec => ({
  name: 'queues',
  entry: 'infra/local/queues/queues.main.ts',
  env: child({ [childEnv.dataDir]: dataDir }),
});
/** `exports`: each cluster of the demonstration exports a Service. */
export const clustersProcess = (ids: readonly string[], exports: boolean): ChildSpec => ({
  name: 'clusters',
  entry: 'infra/local/clusters/clusters.main.ts',
  env: child({ [childEnv.clusters]: JSON.stringify(ids), [childEnv.exports]: exports ? '1' : '0' }),
});

export function hubProcesses(hub: LocalHub): ChildSpec[] {
  const env = child({
    ...aws(hub),
    [hubEnv.tableName]: tableName,
    [childEnv.queues]: JSON.stringify(hub.queues),
    [hubEnv.connectionsFile]: hub.connections.all,
  });
  const worker = { entry: 'infra/local/lambda/worker.main.ts', env };
  return [
    { name: 'ingest', ...worker, args: ['events'] },
    { name: 'sync', ...worker, args: ['syncs'] },
    { name: 'sweep', entry: 'infra/local/lambda/sweep.main.ts', env },
  ];
}

export interface RelayProcessOptions {
  readonly mode: 'active' | 'shadow';
  /** The cluster exports or imports. */
  readonly takesPart: boolean;
}

export function relayProcess(
  hub: LocalHub,
  cluster: string,
  { mode, takesPart }: RelayProcessOptions,
): ChildSpec {
  return {
    name: `relay ${cluster}`,
    entry: 'functions/relay/relay.main.ts',
    // The relay ignores this argument. It distinguishes the relays in a list of processes.
    args: [cluster],
    env: child({
      ...aws(hub),
      [relayEnv.clusterId]: cluster,
      [relayEnv.eventsQueueUrl]: hub.queues[cluster]?.events as string,
      [relayEnv.outputs]: mode === 'shadow' ? 'full' : 'metadata',
      ...(takesPart && { [relayEnv.clusterset]: '1' }),
      [relayEnv.port]: '0',
      [relayEnv.connectionFile]: hub.connections.of(cluster),
      // The relay's image has the same limits. Without them the garbage of lists stays in memory for a while.
      NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=128',
    }),
  };
}

/** The SDK's endpoints: the two servers on the loopback interface, so no call reaches an AWS account. */
export const aws = ({ tableUrl, queuesUrl }: Pick<LocalHub, 'tableUrl' | 'queuesUrl'>): Env => ({
  AWS_ENDPOINT_URL_DYNAMODB: tableUrl,
  AWS_ENDPOINT_URL_SQS: queuesUrl,
});

function child(env: Env): Env {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(AWS_|NODE_OPTIONS$|LISTEN_PORTS$)/.test(name),
  );
  return {
    ...(Object.fromEntries(own) as Env),
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
    NODE_NO_WARNINGS: '1',
    NODE_COMPILE_CACHE: compileCache,
    ...env,
  };
}
