/**
 * The hub of a command. TABLE_NAME and the usual AWS credentials choose a deployed hub. Otherwise it is the
 * local run, which keeps its addresses in a file while it runs.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { thereAre } from '#infra/cli/terminal/counted.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { commandClientConfig, sqsEndpoint } from '#shared/aws-client-config.ts';
import { type QueueDirectory, queueDirectory } from '#shared/clusters/queue-directory.ts';
import { listClusters } from '#shared/clusters/record.ts';
import { hubEnv } from '#shared/contract/env.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Table } from '#shared/store/table.ts';
import { withHubErrors } from './hub-errors.ts';
import { isRunning, type RunningProcess, thisProcess } from './running-process.ts';
import { tableClock } from './table-clock.ts';

/** The content of a local run's file. */
export interface LocalAddresses {
  readonly tableUrl: string;
  readonly queuesUrl: string;
  readonly tableName: string;
  readonly region: string;
  /** File with the clusters' connections by id. */
  readonly connectionsFile: string;
  readonly consoleUrl: string;
}

/**
 * With the process that wrote the file, because another process may have the number of a killed run now, and
 * with the folder of its start.
 */
type Published = LocalAddresses & Pick<RunningProcess, 'began'> & { readonly folder?: string };

const runsFolder = (): string => join(tmpdir(), `fleet-endpoints-runs-${userInfo().uid}`);

/** Where the run of this process leaves its addresses; several may run side by side. */
export const localHubFile = (pid: number): string => join(runsFolder(), `${pid}.json`);

/** Only this user may read them. */
export async function publishLocalAddresses(addresses: LocalAddresses): Promise<void> {
  await mkdir(runsFolder(), { recursive: true, mode: 0o700 });
  checkOurs(runsFolder());
  const published: Published = { ...addresses, began: thisProcess().began, folder: process.cwd() };
  await writeFile(localHubFile(process.pid), JSON.stringify(published), { mode: 0o600 });
}

/**
 * The temporary directory is everybody's: another user who makes the folder first could send our commands to
 * a table of his own.
 */
function checkOurs(folder: string): void {
  const found = lstatSync(folder);
  const rights = found.mode & 0o777;
  const wrong = !found.isDirectory()
    ? 'is not a folder'
    : found.uid !== userInfo().uid
      ? `belongs to user ${found.uid}`
      : (rights & 0o077) !== 0
        ? `is open to others (0${rights.toString(8)}, 0700 is needed)`
        : undefined;
  if (wrong)
    throw new UsageError(
      `${folder} ${wrong}: its data about local runs is not trusted; remove it, and start the runs again`,
    );
}

export interface Hub {
  readonly name: string;
  readonly tableName: string;
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly directory: QueueDirectory;
  readonly connectionsFile: string | undefined;
  /** The console's address in a local run. */
  readonly consoleUrl?: string;
  /** A local run that was started in another folder than the command. */
  readonly isElsewhere?: boolean;
  /** ms since the epoch, by the hub's clock. */
  readonly now: () => number;
}

export function connectHub(env: { readonly [name: string]: string | undefined }): Hub {
  const deployed = env[hubEnv.tableName];
  if (deployed) {
    const name = `table ${deployed}`;
    const dynamodb = withHubErrors(new DynamoDBClient(commandClientConfig), name);
    const sqs = withHubErrors(new SQSClient({ ...commandClientConfig, ...sqsEndpoint }), name);
    const table = dynamoTable(dynamodb, deployed);
    return {
      name,
      tableName: deployed,
      table,
      sqs,
      dynamodb,
      directory: queueDirectory(table, sqs),
      connectionsFile: undefined,
      now: tableClock(dynamodb, Date.now),
    };
  }
  const local = localAddresses(env['HUB']);
  const common = { region: local.region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const dynamodb = new DynamoDBClient({ ...common, endpoint: local.tableUrl });
  const sqs = new SQSClient({ ...common, endpoint: local.queuesUrl });
  const table = dynamoTable(dynamodb, local.tableName);
  const isElsewhere = local.folder !== undefined && local.folder !== process.cwd();
  return {
    name: isElsewhere ? `the local run of ${local.folder}` : 'the local run',
    isElsewhere,
    tableName: local.tableName,
    table,
    sqs,
    dynamodb,
    directory: queueDirectory(table, sqs),
    connectionsFile: local.connectionsFile,
    consoleUrl: local.consoleUrl,
    now: tableClock(dynamodb, Date.now),
  };
}

/**
 * Returns the addresses of the run whose folder's name or process id is HUB. Without HUB the run of this
 * folder counts first, then the only local run.
 */
export function localAddresses(chosen: string | undefined): Published {
  const runs = localRuns().filter(
    ({ pid, published }) => chosen === undefined || String(pid) === chosen || nameOf(published) === chosen,
  );
  const ofFolder = runs.filter(({ published }) => published.folder === process.cwd());
  const wanted = ofFolder.length > 0 ? ofFolder : runs;
  const [run] = wanted;
  if (run === undefined) {
    const what =
      chosen === undefined
        ? 'nothing runs locally (fleet-endpoints start)'
        : `no local run has the folder or process id ${chosen}`;
    throw new UsageError(`no hub: ${what}, and ${hubEnv.tableName} names no deployed table`);
  }
  if (wanted.length > 1) {
    const names = wanted.map(({ published }) => nameOf(published));
    const isUnique = new Set(names).size === names.length;
    const list = wanted.map(
      ({ pid, published: { folder, consoleUrl } }, i) =>
        `--hub ${isUnique ? names[i] : pid} (console ${consoleUrl}, folder ${folder})`,
    );
    throw new UsageError(`several local runs: choose one with ${list.join(' or ')}`);
  }
  return run.published;
}

const nameOf = ({ folder = '' }: Published): string => basename(folder);

function localRuns(): readonly { readonly pid: number; readonly published: Published }[] {
  if (!existsSync(runsFolder())) return [];
  checkOurs(runsFolder());
  return readdirSync(runsFolder()).flatMap((file) => {
    const pid = Number.parseInt(file, 10);
    const published = publishedBy(pid);
    return published && isRunning({ pid, began: published.began }) ? [{ pid, published }] : [];
  });
}

/** Undefined: the run has ended since, or is about to write it. */
function publishedBy(pid: number): Published | undefined {
  try {
    return JSON.parse(readFileSync(localHubFile(pid), 'utf8')) as Published;
  } catch {
    return undefined;
  }
}

/**
 * Returns one cluster by its id, or all. A command without the option --all leaves `all` out. Throws a
 * UsageError that names the clusters of the hub.
 */
export async function chosenClusters(
  table: Table,
  chosen: string | undefined,
  all?: boolean,
): Promise<readonly string[]> {
  const known = [...(await listClusters(table))].sort(naturalOrder);
  if (all) return known;
  if (chosen === undefined)
    throw new UsageError(
      `which cluster? ${known.join(', ') || 'none is registered'}${all === undefined ? '' : ', or --all'}`,
    );
  if (!known.includes(chosen)) throw new UsageError(`no cluster ${chosen}: ${thereAre(known)}`);
  return [chosen];
}
