import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '#test/support/control-plane/control-plane.ts';
import { pythonProgram } from './python-program.ts';

export type Environment = { readonly [name: string]: string };

/** The part of AWS that a deployment needs, on 127.0.0.1, with IAM enforced. */
export interface LocalCloud {
  readonly url: string;
  readonly account: string;
  readonly region: string;
  /**
   * Environment of programs that use it as its administrator, AWS's command line too, without settings of the
   * real AWS on this machine.
   */
  readonly administrator: Environment;
  /** Where it is and whom to trust, without any credentials. */
  readonly reach: Environment;
  /**
   * Calls an operation by its name in the AWS SDK for Python, such as `describe_alarms`, as the administrator
   * or with the credentials in `as`.
   */
  call(service: string, operation: string, parameters?: object, as?: Environment): Promise<unknown>;
  /** The end of its log. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** Released nearly every day. */
const program = { name: 'ministack', version: '1.5.33' };
/** The last one for Python; version 2 is not on PyPI, and has the same commands. */
const commandLine = { name: 'awscli', version: '1.46.3' };

const account = '000000000000';
const region = 'us-east-1';

const caller = `
import botocore.session, json, sys
service, operation, parameters = sys.argv[1:]
client = botocore.session.get_session().create_client(service)
print(json.dumps(getattr(client, operation)(**json.loads(parameters)), default=str))
`;

export async function startLocalCloud(say: (line: string) => void = console.error): Promise<LocalCloud> {
  const installation = await pythonProgram(program, say);
  const aws = await pythonProgram(commandLine, say);
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-cloud-'));
  const [port] = await freePorts(1);
  const url = `https://127.0.0.1:${port}`;
  // Made at its first start, for itself.
  const certificate = join(folder, 'ministack-tls/server.crt');
  const logFile = join(folder, 'log');
  const machine = {
    // The functions run on the first `node` there is: this one.
    PATH: [dirname(process.execPath), join(aws, 'bin'), process.env['PATH']].join(delimiter),
    HOME: folder,
    TMPDIR: folder,
    NODE_NO_WARNINGS: '1',
  };
  const keys = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
  };
  const reach = {
    AWS_ENDPOINT_URL: url,
    AWS_EC2_METADATA_DISABLED: 'true',
    NODE_EXTRA_CA_CERTS: certificate,
    AWS_CA_BUNDLE: certificate,
  };
  const administrator = { ...machine, ...keys, ...reach };

  const log = openSync(logFile, 'a');
  const server = spawn(join(installation, 'bin/ministack'), [], {
    env: {
      ...machine,
      ...keys,
      AUTH: 'true',
      // Policies that refuse plain HTTP hold here too, and functions may call API servers of this machine by
      // TLS.
      USE_SSL: '1',
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      LOG_LEVEL: 'WARNING',
    },
    stdio: ['ignore', log, log],
    // A group of its own: the functions' processes end with it, however it ends.
    detached: true,
  });
  closeSync(log);
  const gone = new Promise<void>((resolve) => server.once('close', () => resolve()));
  server.once('error', (e) => say(`the local cloud can't be run: ${e.message}`));
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (server.pid !== undefined) process.kill(-server.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  const killAll = (): void => kill('SIGKILL');
  process.once('exit', killAll);

  const readLog = async (): Promise<string> =>
    (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-40).join('\n');
  async function stop(): Promise<void> {
    kill('SIGTERM');
    const impatient = setTimeout(killAll, 10_000);
    if (server.pid !== undefined) await gone;
    clearTimeout(impatient);
    killAll();
    process.off('exit', killAll);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  const limit = Date.now() + 60_000;
  while (!(await answers(`${url}/_ministack/health`))) {
    if (server.exitCode !== null || server.pid === undefined || Date.now() > limit) {
      const end = await readLog();
      await stop();
      throw new Error(`the local cloud did not become ready; the end of its log:\n${end}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    account,
    region,
    administrator,
    reach,
    async call(service, operation, parameters = {}, as) {
      const args = ['-c', caller, service, operation, JSON.stringify(parameters)];
      const env = as
        ? { ...machine, AWS_REGION: region, AWS_DEFAULT_REGION: region, ...reach, ...as }
        : administrator;
      const { stdout } = await promisify(execFile)(join(installation, 'bin/python'), args, {
        env,
        maxBuffer: 2 ** 26,
      });
      return JSON.parse(stdout);
    },
    log: readLog,
    stop,
  };
}

const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const request = https.get(
      url,
      { agent: false, rejectUnauthorized: false, timeout: 5_000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
