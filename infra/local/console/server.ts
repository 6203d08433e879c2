/** The console of a local run: for now health and metrics. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UsageError } from '../options.ts';

export interface Console {
  readonly url: string;
  close(): void;
}

/** Content by path. */
export type Routes = { readonly [path: string]: () => { readonly type: string; readonly body: string } };

export async function startConsole(port: number, routes: Routes): Promise<Console> {
  const server = createServer((request, response) => answer(routes, request, response));
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'needs more rights' : `cannot be used: ${message}`;
    throw new UsageError(`port ${port} ${why}: set PORT to another one, or to 0 for any that is free`);
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(routes: Routes, request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '/').split('?')[0] as string;
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else if (!route) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`not found; there are ${Object.keys(routes).join(', ')}\n`);
  } else {
    const { type, body } = route();
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(request.method === 'HEAD' ? undefined : body);
  }
}
