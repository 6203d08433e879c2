/** The console's HTTP server on a port of the loopback interface. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

export interface Console {
  readonly url: string;
  close(): void;
}

export interface Answer {
  readonly type: string;
  readonly body: string;
  readonly status?: number;
}

/** Handlers by path. */
export type Routes = { readonly [path: string]: (query: URLSearchParams) => Answer | Promise<Answer> };

/** The page loads nothing from other origins, and no site may frame it. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export async function startConsole(port: number, routes: Routes): Promise<Console> {
  const server = createServer((request, response) => void answer(routes, request, response));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE'
        ? 'is in use'
        : code === 'EACCES'
          ? 'requires more privileges'
          : `cannot be used: ${message}`;
    throw new UsageError(`port ${port} ${why}: set PORT to another port, or to 0 for any free port`);
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '/', search] = (request.url ?? '/').split('?', 2);
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  const send = ({ status = 200, type, body }: Answer) =>
    response
      .writeHead(status, { ...headers, 'content-type': type })
      .end(request.method === 'HEAD' ? undefined : body);
  const text = 'text/plain; charset=utf-8';
  if (!isOurs(request.headers.host))
    return void send({
      status: 421,
      type: text,
      body: 'this is the console of 127.0.0.1 and localhost only\n',
    });
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  if (!route)
    return void send({
      status: 404,
      type: text,
      body: `not found; there are ${Object.keys(routes).join(', ')}\n`,
    });
  try {
    send(await route(new URLSearchParams(search)));
  } catch (e) {
    send({ status: 500, type: text, body: `${(e as Error).message}\n` });
  }
}

/**
 * Refuses other host names (DNS rebinding): scripts of a site whose name points at this machine could read
 * the console.
 */
const isOurs = (host: string | undefined): boolean =>
  /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host ?? '');
