/** Kept connections to one API server. */
import http from 'node:http';
import https from 'node:https';
import type { Connection } from './connection.ts';

export interface AgentOptions {
  /**
   * How long an idle connection is kept. Shorter than load balancers do, and where the process may be frozen:
   * it must not wake up with dead sockets.
   */
  readonly idleMs?: number;
  /** Connections at once. All of them are kept while they are idle. */
  readonly maxSockets?: number;
  /** Environment whose HTTPS_PROXY and NO_PROXY choose the proxy of HTTPS connections. Left out: no proxy. */
  readonly proxyEnv?: NodeJS.ProcessEnv;
}

export function newAgent(to: Connection, options: AgentOptions): http.Agent {
  const { idleMs = 5_000, maxSockets = 64, proxyEnv } = options;
  const pool = { keepAlive: true, timeout: idleMs, maxSockets, maxFreeSockets: maxSockets };
  if (to.server.startsWith('http:')) return new http.Agent(pool);
  return new https.Agent({
    ...pool,
    ...(proxyEnv && { proxyEnv }),
    ...(to.ca !== undefined && { ca: to.ca }),
    ...(to.clientCertificate !== undefined && { cert: to.clientCertificate }),
    ...(to.clientKey !== undefined && { key: to.clientKey }),
    ...(to.serverName !== undefined && { servername: to.serverName }),
    ...(to.insecureSkipTlsVerify && { rejectUnauthorized: false }),
  });
}

/**
 * Closes the idle connections, and each other one after its request. Agent.destroy() would break the requests
 * under way.
 */
export function retire(agent: http.Agent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

const spares = new WeakMap<http.Agent, http.Agent>();

/**
 * The agent, or while all of its connections are in use its spare one, which has a single connection and
 * keeps it for no other request.
 */
export function agentWithoutLine(agent: http.Agent, to: Connection, options: AgentOptions): http.Agent {
  if (Object.values(agent.sockets).flat().length < agent.maxSockets) return agent;
  let spare = spares.get(agent);
  if (!spare) {
    spare = newAgent(to, { ...options, maxSockets: 1 });
    retire(spare);
    spares.set(agent, spare);
  }
  return spare;
}

/** Do sockets to the one serve for the other? A token goes with each request. */
export function sameServer(a: Connection, b: Connection): boolean {
  const fields = [
    'server',
    'ca',
    'serverName',
    'insecureSkipTlsVerify',
    'clientCertificate',
    'clientKey',
  ] as const;
  return fields.every((f) => a[f] === b[f]);
}

const guarded = new WeakSet<object>();

/**
 * An abort that coincides with the end of the answer emits 'error' on the pooled socket, which lacks a
 * listener.
 */
export function guard(socket: NodeJS.EventEmitter): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  socket.on('error', () => {});
}
