/** The table's process: DynamoDB's protocol by dynalite, on disk, so that it can be killed and started again. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import { childEnv, onStop, portOf, report } from './child.ts';

const server = dynalite({ path: process.env[childEnv.dataDir] as string, createTableMs: 0 });
await once(server.listen(portOf(0), '127.0.0.1'), 'listening');
report({ ports: [(server.address() as AddressInfo).port] });
onStop(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
