import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** An HTTP proxy on 127.0.0.1 for HTTPS: it answers CONNECT alone, and never sees what goes through. */
export interface ConnectProxy {
  readonly url: string;
  /** Each CONNECT's HOST:PORT, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * `route`: the address that a connection to HOST:PORT leads to. A status refuses the connection, and
 * `silence` leaves it without an answer. By default every connection leads where it asks to.
 */
export async function connectProxy(
  route: (authority: string) => Address | number | 'silence' = addressOf,
): Promise<ConnectProxy> {
  const asked: string[] = [];
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', ({ url: authority = '' }, client, head) => {
    asked.push(authority);
    const to = route(authority);
    client.on('error', () => {});
    open.add(client);
    client.once('close', () => open.delete(client));
    if (to === 'silence') return;
    if (typeof to === 'number') return client.end(`HTTP/1.1 ${to} Refused\r\n\r\n`);
    const upstream = connect(to, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  const open = new Set<{ destroy(): unknown }>();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function addressOf(authority: string): Address {
  const { hostname, port } = new URL(`http://${authority}`);
  return { host: hostname, port: Number(port || 80) };
}
