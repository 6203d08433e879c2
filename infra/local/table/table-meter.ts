/**
 * Publishes DynamoDB's metrics of consumed read and write units. It adds ReturnConsumedCapacity to each
 * request and sums up the answers.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { awsMetrics } from '../lambda/aws-metrics.ts';
import { tableName } from '../processes/child-specs.ts';

/**
 * User agent of the console's client. The meter leaves out its calls, so watching the table does not change
 * its metrics.
 */
export const unmeteredClient = 'fleet-endpoints-console';

const reads = ['GetItem', 'BatchGetItem', 'Query'];
const writes = ['PutItem', 'UpdateItem', 'DeleteItem'];

/** Publishes once a second and at the end. */
export function meterTable(server: Server, writeLine: (line: string) => void): { stop(): void } {
  const metrics = awsMetrics('AWS/DynamoDB', writeLine, Date.now);
  const units = { read: 0, written: 0 };

  // This listener comes before dynalite's, which reads the request at once.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const isRead = reads.includes(operation);
    if (!(isRead || writes.includes(operation)) || request.headers['user-agent']?.includes(unmeteredClient))
      return;
    askForUnits(request);
    const end = response.end;
    response.end = ((body?: unknown, ...rest: unknown[]) => {
      units[isRead ? 'read' : 'written'] += consumed(body);
      return (end as (...args: unknown[]) => ServerResponse).call(response, body, ...rest);
    }) as typeof end;
  });

  function publish(): void {
    const dimensions = { TableName: tableName };
    metrics.put(dimensions, 'ConsumedReadCapacityUnits', units.read);
    metrics.put(dimensions, 'ConsumedWriteCapacityUnits', units.written);
    metrics.put(dimensions, 'ReadThrottleEvents', 0);
    metrics.put(dimensions, 'WriteThrottleEvents', 0);
    metrics.flush();
    Object.assign(units, { read: 0, written: 0 });
  }

  const timer = setInterval(publish, 1_000);
  return {
    stop() {
      clearInterval(timer);
      publish();
    },
  };
}

/** Inserts a member at the start of the JSON object, in the first chunk of the body. */
function askForUnits(request: IncomingMessage): void {
  const emit = request.emit.bind(request) as (event: string, ...args: unknown[]) => boolean;
  let asked = false;
  request.emit = ((event: string, ...args: unknown[]) => {
    const [chunk] = args;
    if (event !== 'data' || asked || !Buffer.isBuffer(chunk)) return emit(event, ...args);
    asked = true;
    return emit(
      'data',
      Buffer.concat([Buffer.from('{"ReturnConsumedCapacity":"TOTAL",'), chunk.subarray(1)]),
    );
  }) as typeof request.emit;
}

function consumed(body: unknown): number {
  return typeof body === 'string' ? Number(/"CapacityUnits":([\d.]+)/.exec(body)?.[1] ?? 0) : 0;
}
