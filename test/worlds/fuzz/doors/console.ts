/**
 * Requests to the console: of any path, query, method and host. Each gets an answer, and its API answers in
 * JSON.
 */
import { connect } from 'node:net';
import fc from 'fast-check';
import { apiRoutes } from '#infra/console/console-api.ts';
import { localMetrics } from '#infra/console/local-metrics.ts';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { type Console, startConsole } from '#infra/console/server.ts';
import { type Door, ensure } from '../door.ts';
import { startFleet } from '../fleet.ts';
import { hostileText } from '../hostile.ts';

interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly isEncoded: boolean;
  readonly host: string;
}

const paths = ['dashboards', 'series', 'fleet', 'clusterset', 'services', 'explain', 'history', 'then'].map(
  (name) => `/api/${name}`,
);
const names = ['dashboard', 'minutes', 'cluster', 'namespace', 'service', 'pod', 'at'];
const values = [
  'a',
  'b',
  'c',
  'shop',
  'web',
  'import:web',
  'fleet',
  'cluster',
  '5',
  '-1',
  '1e400',
  'NaN',
  '',
  '9'.repeat(400),
  '8640000000000001',
  '1767312100000',
];

const query = fc.array(
  fc.tuple(
    fc.oneof(fc.constantFrom(...names), hostileText),
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: hostileText }),
  ),
  { maxLength: 5 },
);
const whole = fc.constantFrom(...paths).chain((path) =>
  fc.record({
    path: fc.constant(path),
    query: fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), fc.constantFrom(...values)))),
  }),
);
const request = fc
  .tuple(
    fc.oneof(
      whole,
      fc.record({
        path: fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom(...paths) },
          { weight: 2, arbitrary: hostileText.map((text) => `/${text}`) },
        ),
        query,
      }),
    ),
    fc.record({
      method: fc.oneof(
        { weight: 8, arbitrary: fc.constant('GET') },
        { weight: 2, arbitrary: fc.constantFrom('HEAD', 'POST', 'OPTIONS', 'TRACE') },
      ),
      isEncoded: fc.oneof(
        { weight: 4, arbitrary: fc.constant(true) },
        { weight: 1, arbitrary: fc.constant(false) },
      ),
      host: fc.oneof(
        { weight: 8, arbitrary: fc.constant('127.0.0.1') },
        {
          weight: 1,
          arbitrary: fc.constantFrom('localhost:99', 'evil.example.com', '', '127.0.0.1.evil.example.com'),
        },
      ),
    }),
  )
  .map(([{ path, query: parts }, rest]): HostileRequest => ({ path, query: parts, ...rest }));

let running: Promise<Console> | undefined;

async function start(): Promise<Console> {
  const world = await startFleet();
  const metrics = localMetrics(metricsStore(), () => world.nowMs);
  return startConsole(
    0,
    apiRoutes({ metrics, table: () => world.table, now: () => world.nowMs, refreshSeconds: 1 }),
  );
}

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** As the bytes that come back: an HTTP client of Node's would refuse to send most of these requests. */
function send(
  port: number,
  { method, path, query: parts, isEncoded, host }: HostileRequest,
): Promise<string> {
  const search = parts
    .map((part) => part.map((text) => (isEncoded ? encoded(text) : text)).join('='))
    .join('&');
  const target = `${isEncoded ? path.split('/').map(encoded).join('/') : path}?${search}`.replace(
    /[\r\n]/g,
    '',
  );
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (text) => (answer += text));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

const allowed = new Set(['200', '400', '404', '405', '421', '431']);

export const console: Door<HostileRequest> = {
  name: 'console',
  cases: 100,
  values: request,
  async check(asked) {
    running ??= start();
    const { url } = await running;
    const answer = await send(Number(new URL(url).port), asked).catch((error: NodeJS.ErrnoException) => {
      // The server has answered and closed before it has read all of a request that is too long.
      ensure(error.code === 'ECONNRESET' || error.code === 'EPIPE', String(error));
      return 'HTTP/1.1 431 \r\n\r\n';
    });
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? '';
    ensure(allowed.has(status), `the answer is ${answer.slice(0, 400)}`);
    if (asked.host === '127.0.0.1' || asked.host === 'localhost:99' || status === '400' || status === '431')
      return ensureJson(asked, status, answer);
    ensure(status === '421', `a request for ${asked.host} is answered with ${status}`);
  },
};

function ensureJson({ path, method, isEncoded }: HostileRequest, status: string, answer: string): void {
  if (!isEncoded || method !== 'GET' || !paths.includes(path) || (status !== '200' && status !== '404'))
    return;
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  const text = /^transfer-encoding: chunked/im.test(answer)
    ? body.replace(/^[0-9a-f]+\r\n|\r\n[0-9a-f]+\r\n/g, '')
    : body;
  const value: unknown = JSON.parse(text);
  if (status === '404')
    ensure(
      typeof (value as { readonly error?: unknown }).error === 'string',
      `a refusal says ${text.slice(0, 200)}`,
    );
}
