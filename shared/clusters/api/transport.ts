/**
 * HTTPS requests to one API server, with kept connections, a token, timeouts and maximum sizes. This module
 * knows no kinds.
 */
import http from 'node:http';
import https from 'node:https';
import { type AgentOptions, agentWithoutLine, guard, newAgent, retire, sameServer } from './agent.ts';
import type { Connection, TokenSource } from './connection.ts';
import { ClusterApiError, noCredentials, timedOut, tooLarge } from './errors.ts';

export interface TransportOptions extends AgentOptions {
  /** Replaces the connection's own token. A 401 calls it once more, with `refresh`. */
  readonly token?: TokenSource;
  /** Timeout of a whole request with its retries, and of the headers of a stream, ms. */
  readonly timeoutMs?: number;
  readonly userAgent?: string;
  /** Limit of an answer's body, bytes, for requests without a limit of their own. */
  readonly maxBytes?: number;
}

export interface RequestOptions {
  readonly query?: { readonly [name: string]: string | number | boolean | undefined };
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** A longer body fails the request. */
  readonly maxBytes?: number;
  /** The request may be repeated: it is sent once more if a kept connection was dead. */
  readonly idempotent?: boolean;
  /**
   * The request does not wait in line for one of `maxSockets` connections: if all are in use, it gets one of
   * its own.
   */
  readonly urgent?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpStream {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /**
   * The reader pulls: unread data stays with the server. Rejects with a ClusterApiError of status 0 when the
   * connection breaks or is destroyed.
   */
  readonly chunks: AsyncIterable<Buffer>;
  destroy(): void;
}

/**
 * Requests to one cluster's API over kept connections. A response of any status is a result; a failed
 * connection, a timeout or an aborted signal rejects with a ClusterApiError of status 0. `path` begins with
 * "/" and is already escaped.
 */
export interface HttpTransport {
  request(method: string, path: string, options?: RequestOptions): Promise<HttpResponse>;
  /** Resolves with the headers. The caller reads `chunks` to the end, or calls `destroy`. */
  stream(method: string, path: string, options?: RequestOptions): Promise<HttpStream>;
  /** Closes the idle connections, and each other one after its request. */
  close(): void;
}

/**
 * If `connection` is a function, the transport calls it before each request, and opens new sockets if more
 * than the token has changed.
 */
export function httpTransport(
  connection: Connection | (() => Promise<Connection>),
  options: TransportOptions = {},
): HttpTransport {
  let current: { readonly connection: Connection; readonly agent: http.Agent } | undefined;

  async function connect(): Promise<{ readonly connection: Connection; readonly agent: http.Agent }> {
    const wanted = typeof connection === 'function' ? await connection().catch(noAccess) : connection;
    if (current?.connection === wanted) return current;
    // Each request carries its token, so a new token keeps the sockets. Requests that are under way go on.
    const kept = current && sameServer(current.connection, wanted) ? current.agent : undefined;
    if (!kept && current) retire(current.agent);
    current = { connection: wanted, agent: kept ?? newAgent(wanted, options) };
    return current;
  }

  async function open(method: string, path: string, call: RequestOptions): Promise<Exchange> {
    const limitMs = call.timeoutMs ?? options.timeoutMs ?? 15_000;
    let asked = performance.now();
    const until = asked + limitMs;
    // The connection may need a call for its certificate or token.
    let { connection: to, agent } = await connect();
    const url = new URL(to.server.replace(/\/+$/, '') + path + queryText(call.query));
    for (let refresh = false, reconnected = false; ; asked = performance.now()) {
      const token = options.token ? await options.token(refresh).catch(noAccess) : to.token;
      // The rest of the time is too short for an answer, and a timeout would open the circuit of a healthy
      // server.
      if (performance.now() - asked > limitMs / 2)
        throw new ClusterApiError('the credentials came too late', { reason: noCredentials });
      // The connection has the certificate, which may be renewed together with the token.
      if (refresh) ({ connection: to, agent } = await connect());
      try {
        const by = call.urgent ? agentWithoutLine(agent, to, options) : agent;
        const exchange = await send(
          by,
          method,
          url,
          headersOf(call, token, options.userAgent),
          call,
          Math.max(1, until - performance.now()),
        );
        if (exchange.response.statusCode !== 401 || refresh || !options.token) return exchange;
        refresh = true;
        exchange.destroy();
      } catch (e) {
        if (!(e instanceof SendFailure)) throw e;
        if (reconnected || !e.deadSocket || !call.idempotent || call.signal?.aborted)
          throw failed(method, url, e.cause);
        reconnected = true;
      }
    }
  }

  return {
    async request(method, path, call = {}) {
      const { response, url, finish } = await open(method, path, call);
      const { maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY } = call;
      const parts: Buffer[] = [];
      let length = 0;
      try {
        for await (const part of response) {
          parts.push(part);
          length += part.length;
          if (length > maxBytes)
            throw Object.assign(new Error(`the answer has more than ${maxBytes} bytes`), {
              code: 'EMSGSIZE',
            });
        }
      } catch (e) {
        throw failed(method, url, finish.reason() ?? e);
      } finally {
        finish();
      }
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts),
      };
    },

    async stream(method, path, call = {}) {
      const { response, url, finish, destroy } = await open(method, path, call);
      finish.headersIn();
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        destroy,
        chunks: (async function* () {
          try {
            for await (const part of response) yield part as Buffer;
          } catch (e) {
            throw failed(method, url, finish.reason() ?? e);
          } finally {
            finish();
          }
        })(),
      };
    },

    close() {
      if (current) retire(current.agent);
      current = undefined;
    },
  };
}

interface Finish {
  (): void;
  headersIn(): void;
  /** Returns the reason for which this side aborted the request, or undefined. */
  reason(): Error | undefined;
}

interface Exchange {
  readonly response: http.IncomingMessage;
  readonly url: URL;
  readonly finish: Finish;
  destroy(): void;
}

class SendFailure extends Error {
  readonly deadSocket: boolean;
  constructor(cause: unknown, deadSocket: boolean) {
    super('request not sent', { cause });
    this.deadSocket = deadSocket;
  }
}

function send(
  agent: http.Agent,
  method: string,
  url: URL,
  headers: http.OutgoingHttpHeaders,
  call: RequestOptions,
  timeoutMs: number,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const { signal } = call;
    if (signal?.aborted) return reject(new SendFailure(abortedError(), false));
    const request = (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent });
    let reason: Error | undefined;
    const breakOff = (why: Error): void => {
      reason ??= why;
      request.destroy(why);
      // A request that waits for a proxy emits no error before the proxy has answered.
      reject(new SendFailure(reason, false));
    };
    const onAbort = (): void => breakOff(abortedError());
    const timer = setTimeout(
      () =>
        breakOff(
          Object.assign(new Error(`timed out after ${Math.round(timeoutMs)} ms`), { code: 'ETIMEDOUT' }),
        ),
      timeoutMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const finish = Object.assign(
      (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      },
      { headersIn: () => clearTimeout(timer), reason: () => reason },
    );
    request.once('socket', guard);
    request.on('error', (e: NodeJS.ErrnoException) => {
      finish();
      reject(
        new SendFailure(
          reason ?? e,
          reason === undefined && request.reusedSocket && (e.code === 'ECONNRESET' || e.code === 'EPIPE'),
        ),
      );
    });
    request.once('response', (response) => {
      // A response that is destroyed before it is read must not be an uncaught error.
      response.on('error', () => {});
      const destroy = (): void => {
        finish();
        breakOff(abortedError());
        response.destroy();
      };
      resolve({ response, url, finish, destroy });
    });
    request.end(call.body);
  });
}

function headersOf(
  call: RequestOptions,
  token: string | undefined,
  userAgent = 'fleet-endpoints',
): http.OutgoingHttpHeaders {
  return {
    accept: 'application/json',
    'user-agent': userAgent,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(call.body !== undefined && {
      'content-type': call.contentType ?? 'application/json',
      'content-length': Buffer.byteLength(call.body),
    }),
  };
}

function queryText(query: RequestOptions['query']): string {
  const set = Object.entries(query ?? {}).filter(([, v]) => v !== undefined);
  return set.length === 0
    ? ''
    : `?${new URLSearchParams(set.map(([k, v]): [string, string] => [k, String(v)]))}`;
}

const abortedError = (): Error => new Error('aborted');

function noAccess(cause: unknown): never {
  if (cause instanceof ClusterApiError) throw cause;
  throw new ClusterApiError(`no address or credentials for the cluster: ${(cause as Error).message}`, {
    status: 0,
    cause,
  });
}

function failed(method: string, url: URL, cause: unknown): ClusterApiError {
  const { message, code } = cause as NodeJS.ErrnoException;
  const reason = code === 'ETIMEDOUT' ? timedOut : code === 'EMSGSIZE' ? tooLarge : undefined;
  return new ClusterApiError(`${method} ${url.origin}${url.pathname}: ${message || code || String(cause)}`, {
    status: 0,
    reason,
    cause,
  });
}
