/**
 * The process of the table: dynalite serves the DynamoDB protocol, on disk, so the process can be killed and
 * restarted.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import { childEnv, onStop, portOf, report, writeLine } from '../processes/child-process.ts';
import { callLevelLess } from './dynalite-level.ts';
import { keepParsedExpressions } from './dynalite-parsed-expressions.ts';
import { meterTable } from './table-meter.ts';

callLevelLess();
keepParsedExpressions();
const server = dynalite({ path: process.env[childEnv.dataDir] as string, createTableMs: 0 });
const meter = meterTable(server, writeLine);
await once(server.listen(portOf(0), '127.0.0.1'), 'listening');
report({ ports: [(server.address() as AddressInfo).port] });
onStop(async () => {
  meter.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
