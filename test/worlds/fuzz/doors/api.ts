/** Answers of a cluster's API to the workers: of any status, type, size and shape. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type HttpsClusterApi, httpsClusterApi } from '#shared/clusters/api/https.ts';
import { type Door, ensure } from '../door.ts';
import {
  anyJson,
  cut,
  deepJson,
  hostileNumber,
  hostileText,
  type Mutation,
  mutated,
  someCut,
  someMutations,
} from '../hostile.ts';

interface HostileAnswer {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string;
  readonly body: unknown;
  readonly changes: readonly Mutation[];
  readonly cut: number;
  /** The connection breaks instead of the end. */
  readonly isBroken: boolean;
}

const object = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7' },
  spec: {},
};
const token = fc.oneof(fc.constantFrom<unknown>('', 'next', 'next', null, 7), hostileText);
const page = fc
  .record({
    token,
    items: fc.oneof(
      fc.constantFrom<unknown>([], [object], [object, object], null, undefined, [null], ['x'], [[]]),
      anyJson,
    ),
  })
  .map(({ token: next, items }) => ({
    kind: 'List',
    metadata: { resourceVersion: '9', continue: next },
    items,
  }));
const status = fc
  .record({
    code: fc.oneof(fc.constantFrom(404, 409, 410, 422, 500), hostileNumber),
    reason: fc.oneof(fc.constantFrom('NotFound', 'Expired'), hostileText),
    message: hostileText,
    seconds: hostileNumber,
  })
  .map(({ code, reason, message, seconds }) => ({
    kind: 'Status',
    code,
    reason,
    message,
    details: { causes: [{ reason, field: message }], retryAfterSeconds: seconds },
  }));
const text = fc.constantFrom(
  '',
  'null',
  '<html>502 Bad Gateway</html>',
  deepJson,
  'x'.repeat(200_000),
  '\u0000',
  '{"metadata":{"uid":"',
);

const answer: Arbitrary<HostileAnswer> = fc.record({
  status: fc.oneof(
    { weight: 4, arbitrary: fc.constant(200) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(201, 204, 301, 401, 403, 404, 409, 410, 422, 429, 500, 503, 599, 799),
    },
  ),
  type: fc.constantFrom('application/json', 'text/html', 'application/vnd.kubernetes.protobuf'),
  retryAfter: fc.oneof(
    fc.constantFrom('', '1', '-1', '1e400', 'Wed, 21 Oct 2015 07:28:00 GMT'),
    fc.nat().map(String),
  ),
  body: fc.oneof(
    { weight: 3, arbitrary: page },
    { weight: 2, arbitrary: fc.constant(object) },
    { weight: 2, arbitrary: status },
    { weight: 2, arbitrary: text },
    { weight: 1, arbitrary: anyJson },
  ),
  changes: someMutations,
  cut: someCut,
  isBroken: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

/**
 * The last answer is given again and again; after so many a server of a healthy cluster would have ended any
 * list.
 */
const maxRequests = 40;
let answers: readonly HostileAnswer[] = [];
let requests = 0;
let running: Promise<HttpsClusterApi> | undefined;

function start(): Promise<HttpsClusterApi> {
  const server: Server = createServer((request, response) => {
    const {
      status: code,
      type,
      retryAfter,
      body,
      changes,
      cut: share,
      isBroken,
    } = answers[Math.min(requests++, answers.length - 1)] as HostileAnswer;
    request.resume();
    const changed = mutated(body, changes);
    const whole = typeof changed === 'string' ? changed : (JSON.stringify(changed) ?? '');
    response.writeHead(code, {
      'content-type': type,
      ...(retryAfter !== '' && { 'retry-after': retryAfter }),
    });
    if (isBroken) response.write(cut(whole, 0.5), () => response.destroy());
    else response.end(cut(whole, share));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      server.unref();
      const { port } = server.address() as AddressInfo;
      resolve(
        httpsClusterApi(
          { server: `http://127.0.0.1:${port}` },
          { fieldManager: 'fuzz', maxBytes: 150_000, maxListBytes: 300_000, timeoutMs: 5_000 },
        ),
      );
    });
  });
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNamed = (value: unknown): boolean => isObject((value as { readonly metadata?: unknown })?.metadata);
const service = object;

/** Each call, and whether what it resolves to is what the port promises. */
const calls: {
  readonly [name: string]: readonly [(api: HttpsClusterApi) => Promise<unknown>, (value: unknown) => boolean];
} = {
  get: [(api) => api.get('Service', 'shop', 'web'), (value) => value === undefined || isNamed(value)],
  list: [
    (api) => api.list('Service', 'shop'),
    (value) => (value as { readonly items: readonly unknown[] }).items.every(isNamed),
  ],
  create: [(api) => api.create('Service', service), isNamed],
  replace: [(api) => api.replace('Service', service), isNamed],
  delete: [
    (api) => api.delete('Service', 'shop', 'web', { uid: 'u' }),
    (value) => typeof value === 'boolean',
  ],
  identity: [(api) => api.identity(), (value) => typeof value === 'string' && value !== ''],
  allows: [
    (api) => api.allows({ verb: 'get', group: '', resource: 'pods' }),
    (value) => typeof value === 'boolean',
  ],
};

const maxMessageLength = 10_000;

function ensureReason(name: string, error: unknown): void {
  ensure(error instanceof ClusterApiError, `${name} rejects with ${String(error)}`);
  const { message, status: code, retryAfterSeconds: seconds } = error;
  ensure(
    message !== '' && typeof message === 'string' && message.length <= maxMessageLength,
    `${name} rejects with a message of ${message.length} characters`,
  );
  ensure(Number.isInteger(code), `${name} rejects with status ${JSON.stringify(code)}`);
  ensure(
    seconds === undefined || (Number.isFinite(seconds) && seconds >= 0),
    `${name} asks to wait for ${seconds} s`,
  );
}

export const api: Door<{ readonly call: string; readonly answers: readonly HostileAnswer[] }> = {
  name: 'api',
  cases: 150,
  values: fc.record({
    call: fc.constantFrom('list', 'list', ...Object.keys(calls)),
    answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
  }),
  async check({ call, answers: next }) {
    running ??= start();
    const client = await running;
    const [ask, isPromised] = calls[call] as (typeof calls)[string];
    [answers, requests] = [next, 0];
    const result = await ask(client).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if ('error' in result) ensureReason(call, result.error);
    else
      ensure(isPromised(result.value), `${call} resolves to ${JSON.stringify(result.value)?.slice(0, 200)}`);
    ensure(requests <= maxRequests, `${call} has asked ${requests} times`);
  },
};
