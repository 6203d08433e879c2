import { spawn } from 'node:child_process';
import { freePorts } from '#test/support/control-plane/control-plane.ts';
import { javaInstallation } from './java-installation.ts';

export interface JavaServer {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Amazon's own DynamoDB Local, in memory. */
export const startDynamoDbLocal = (): Promise<JavaServer> =>
  startJava('dynamodb-local', (folder, port) => [
    '-Xmx512m',
    `-Djava.library.path=${folder}`,
    'com.amazonaws.services.dynamodbv2.local.main.ServerRunner',
    ...['-inMemory', '-sharedDb', '-disableTelemetry', '-port', port],
  ]);

/** ElasticMQ in memory; `strict` with the limits of SQS as it knows them. */
export const startElasticMq = (limits: 'strict' | 'relaxed'): Promise<JavaServer> =>
  startJava('elasticmq', (_folder, port) => [
    '-Xmx256m',
    '-Drest-sqs.bind-hostname=127.0.0.1',
    `-Drest-sqs.bind-port=${port}`,
    `-Drest-sqs.sqs-limits=${limits}`,
    '-Drest-stats.enabled=false',
    '-Dnode-address.host=127.0.0.1',
    `-Dnode-address.port=${port}`,
    'org.elasticmq.server.Main',
  ]);

async function startJava(
  name: string,
  args: (folder: string, port: string) => readonly string[],
): Promise<JavaServer> {
  const folder = await javaInstallation(name, console.error);
  const [port] = await freePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const server = spawn('java', ['-cp', `${folder}/*`, ...args(folder, String(port))], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
  const gone = new Promise<void>((resolve) => server.once('close', () => resolve()));
  // A test run that is broken off must leave nothing behind.
  const kill = (): boolean => server.kill('SIGKILL');
  process.once('exit', kill);

  const limit = Date.now() + 60_000;
  // Any answer will do: both refuse a bare GET.
  while (
    !(await fetch(endpoint).then(
      () => true,
      () => false,
    ))
  ) {
    if (server.exitCode !== null || Date.now() > limit) {
      kill();
      throw new Error(`${name} did not become ready; the end of what it printed:\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    endpoint,
    async stop() {
      kill();
      await gone;
      process.off('exit', kill);
    },
  };
}
