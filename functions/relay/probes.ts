import { createServer, type Server } from 'node:http';
import type { Relay } from './relay.ts';
import type { Clock } from './runtime/clock.ts';
import type { Meter } from './runtime/meter.ts';

const stuckAfterMs = 600_000;

/**
 * /metrics, /healthz, /readyz. Healthy means that the process itself works: it answers, and no reflector has hung for ten minutes.
 * A restart of the relay would not help against an unreachable API server or queue.
 */
export function probeServer(relay: Pick<Relay, 'isReady' | 'stuck' | 'gauges'>, meter: Meter, clock: Clock): Server {
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
  return createServer((request, response) => {
    const [status, body] = answer(request.url?.split('?', 1)[0] ?? '');
    response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body);
  });
}
