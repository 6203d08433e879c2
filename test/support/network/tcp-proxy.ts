import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Stands between a client and a server on the loopback interface and does to their connections what networks
 * do.
 */
export interface TcpProxy {
  readonly port: number;
  /** Open connections. */
  readonly connections: number;
  /**
   * Breaks every connection off, as a reset does; new ones are let through. Resolves to how many there were.
   */
  cut(): number;
  /** Holds all data of old and new connections from now on, without an error. */
  stall(): void;
  /** Passes the held data and all later data. */
  resume(): void;
  close(): Promise<void>;
}

export async function tcpProxy(server: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let stalled = false;

  const listener = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ ...server, noDelay: true });
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', (chunk) => {
        if (!to.write(chunk) && !stalled) {
          from.pause();
          to.once('drain', () => !stalled && from.resume());
        }
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
      if (stalled) from.pause();
    }
  });
  await new Promise<void>((resolve, reject) =>
    listener.once('error', reject).listen(0, '127.0.0.1', resolve),
  );

  const each = (act: (socket: Socket) => unknown): void => {
    for (const pair of [...pairs]) pair.forEach(act);
  };
  return {
    port: (listener.address() as AddressInfo).port,
    get connections() {
      return pairs.size;
    },
    cut() {
      const cut = pairs.size;
      each((socket) => socket.resetAndDestroy());
      return cut;
    },
    stall() {
      stalled = true;
      each((socket) => socket.pause());
    },
    resume() {
      stalled = false;
      each((socket) => socket.resume());
    },
    async close() {
      each((socket) => socket.destroy());
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
