/**
 * HTTPS requests to one API server, with kept connections, a token, timeouts and maximum sizes. This module
 * knows no kinds.
 */
import type http from 'node:http';
import { type AgentOptions, agentWithoutLine, newAgent, retire, sameServer } from './agent.ts';
import type { Connection, TokenSource } from './connection.ts';
import { ClusterApiError, noCredentials, timedOut, tooLarge } from './errors.ts';
import { type Exchange, readBody, SendFailure, send, sendFailure } from './exchange.ts';

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
  let current: Server | undefined;

  async function connect(): Promise<Server> {
    const wanted = typeof connection === 'function' ? await connection().catch(noAccess) : connection;
    if (current?.connection !== wanted) current = { connection: wanted, agent: agentFor(wanted) };
    return current;
  }

  /** Each request carries its token, so a new token keeps the sockets. Requests that are under way go on. */
  function agentFor(wanted: Connection): http.Agent {
    if (current && sameServer(current.connection, wanted)) return current.agent;
    if (current) retire(current.agent);
    return newAgent(wanted, options);
  }

  async function open(method: string, path: string, call: RequestOptions): Promise<Exchange> {
    const limitMs = call.timeoutMs ?? options.timeoutMs ?? 15_000;
    const askedMs = performance.now();
    // The connection may need a call for its certificate or token.
    const server = await connect();
    const url = new URL(server.connection.server.replace(/\/+$/, '') + path + queryText(call.query));
    const wanted = { method, url, call, limitMs, untilMs: askedMs + limitMs };
    return exchange(wanted, { server, askedMs, refresh: false, reconnect: false });
  }

  /** A first answer or failure may be repeated once with a new token, and once over a new socket. */
  async function exchange(wanted: Wanted, attempt: Attempt): Promise<Exchange> {
    const { connection: to } = attempt.server;
    const token = await tokenFor(to, attempt.refresh, attempt.askedMs + wanted.limitMs / 2);
    // The connection has the certificate, which may be renewed together with the token.
    const server = attempt.refresh ? await connect() : attempt.server;
    const sent = await sendOver(server, token, wanted);
    const again = repetitionOf(sent, wanted.call);
    if (again && !attempt[again]) {
      if (!(sent instanceof SendFailure)) sent.destroy();
      return exchange(wanted, { ...attempt, server, askedMs: performance.now(), [again]: true });
    }
    if (sent instanceof SendFailure) throw failed(wanted.method, wanted.url, sent.cause);
    return sent;
  }

  function sendOver(server: Server, token: string | undefined, { method, url, call, untilMs }: Wanted) {
    const agent = call.urgent ? agentWithoutLine(server.agent, server.connection, options) : server.agent;
    const headers = headersOf(call, token, options.userAgent);
    const restMs = Math.max(1, untilMs - performance.now());
    return send(agent, { method, url, headers }, call, restMs).catch(sendFailure);
  }

  function repetitionOf(sent: Exchange | SendFailure, call: RequestOptions) {
    if (sent instanceof SendFailure) return mayBeRepeated(sent, call) ? 'reconnect' : undefined;
    return sent.response.statusCode === 401 && options.token ? 'refresh' : undefined;
  }

  async function tokenFor(to: Connection, refresh: boolean, latest: number): Promise<string | undefined> {
    const token = options.token ? await options.token(refresh).catch(noAccess) : to.token;
    // The rest of the time is too short for an answer, and a timeout would open the circuit of a healthy
    // server.
    if (performance.now() > latest)
      throw new ClusterApiError('the credentials came too late', { reason: noCredentials });
    return token;
  }

  return {
    async request(method, path, call = {}) {
      const { response, url, finish } = await open(method, path, call);
      const { maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY } = call;
      try {
        const body = await readBody(response, maxBytes);
        return { status: response.statusCode ?? 0, headers: response.headers, body };
      } catch (e) {
        throw failed(method, url, finish.reason() ?? e);
      } finally {
        finish();
      }
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

interface Server {
  readonly connection: Connection;
  readonly agent: http.Agent;
}

/** A request with its time. */
interface Wanted {
  readonly method: string;
  readonly url: URL;
  readonly call: RequestOptions;
  readonly limitMs: number;
  readonly untilMs: number;
}

interface Attempt {
  readonly server: Server;
  readonly askedMs: number;
  /** The call has been refused with the former token, and uses a renewed one. */
  readonly refresh: boolean;
  /** It follows a socket that the server had closed. */
  readonly reconnect: boolean;
}

/** Only before an answer: the server has closed the kept connection, or the call may take effect twice. */
const mayBeRepeated = (failure: SendFailure, { idempotent, signal }: RequestOptions): boolean =>
  failure.deadSocket && idempotent === true && !signal?.aborted;

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
