import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Relay } from './relay.ts';
import type { Clock } from './runtime/clock.ts';
import type { Meter } from './runtime/meter.ts';

const stuckAfterMs = 600_000;

/**
 * Every pod of a cluster may reach the port. A kubelet and a Prometheus need a few connections with short
 * requests, and no longer for one than the kubelet waits (manifest.ts).
 */
const bounds = {
  maxHeaderSize: 4_096,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
const maxConnections = 256;

/**
 * /metrics, /healthz, /readyz. Healthy means that the process itself works: it answers, and no reflector has
 * hung for ten minutes. A restart of the relay would not help against an unreachable API server or queue.
 */
export function probeServer(
  relay: Pick<Relay, 'isReady' | 'stuck' | 'gauges'>,
  meter: Meter,
  clock: Clock,
): Server {
  const answer = (path: string): readonly [status: number, body: string] => {
    switch (path) {
      case '/metrics':
        return [200, meter.render(clock.now(), relay.gauges())];
      case '/healthz': {
        const stuck = relay.stuck(stuckAfterMs);
        return stuck.length > 0 ? [503, `stuck: ${stuck.join(', ')}\n`] : [200, 'ok\n'];
      }
      case '/readyz':
        return relay.isReady ? [200, 'ok\n'] : [503, 'first lists are not sent yet\n'];
      default:
        return [404, 'not found\n'];
    }
  };
  const server = createServer(bounds, (request, response) => {
    const [status, body] = answer(request.url?.split('?', 1)[0] ?? '');
    response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body);
  });
  return server.on('connection', closingTheOldest());
}

/**
 * Node's own `maxConnections` would refuse the newest connection, which may be the kubelet's: who holds all
 * others would have the pod restarted.
 */
function closingTheOldest(): (socket: Socket) => void {
  const open = new Set<Socket>();
  return (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= maxConnections) return;
    const [oldest] = open;
    oldest?.destroy();
  };
}
