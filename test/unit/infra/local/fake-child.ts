/** A process for the supervisor's tests: what it does is in its arguments. */
import { createServer } from 'node:net';
import { onStop, portOf, report, writeLine } from '#infra/local/processes/child-process.ts';

const [behaviour = 'serve'] = process.argv.slice(2);
switch (behaviour) {
  case 'broken':
    throw new TypeError('no such module');
  default: {
    const server = createServer().listen(portOf(0), '127.0.0.1', () => {
      report({ ports: [(server.address() as { port: number }).port] });
      writeLine(`serving as ${process.pid}`);
    });
    if (behaviour === 'stubborn') process.on('SIGTERM', () => {});
    else onStop(async () => writeLine('stopped in order'));
  }
}
