/** The console's server: its routes, and what it refuses. */
import { expect, it } from 'vitest';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { startConsole } from '#infra/console/server.ts';
import { awsMetrics } from '#infra/local/lambda/aws-metrics.ts';
import { childLines } from '#infra/local/processes/log-lines.ts';
import { terminal } from '#infra/local/processes/terminal.ts';
import { summary } from '#infra/local/summary.ts';
import { metricsNamespace } from '#shared/contract/metrics.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { jsonLog } from '#shared/telemetry/log.ts';

function filledStore() {
  const store = metricsStore();
  const write = (line: string) => expect(store.add(JSON.parse(line))).toBe(true);
  const metrics = emfMetrics(write, () => 0, metricsNamespace);
  for (const ms of [10, 20, 400]) metrics.put('SyncLatency', ms, { cluster: 'a' });
  for (const cluster of ['a', 'b', 'b']) metrics.put('EventsIn', 2, { cluster });
  metrics.put('CircuitOpen', 1, { cluster: 'a' });
  metrics.flush();
  metrics.put('CircuitOpen', 0, { cluster: 'a' });
  metrics.put('EventsIn', 1, { cluster: 'a' });
  metrics.flush();
  const queues = awsMetrics('AWS/SQS', write, () => 0);
  queues.put({ QueueName: 'a-syncs' }, 'ApproximateNumberOfMessagesVisible', 7);
  queues.put({ QueueName: 'a-syncs-dead' }, 'ApproximateNumberOfMessagesVisible', 2);
  queues.flush();
  const functions = awsMetrics('AWS/Lambda', write, () => 0);
  for (const running of [1, 2, 1]) functions.put({ FunctionName: 'sync' }, 'ConcurrentExecutions', running);
  functions.put({ FunctionName: 'sync' }, 'Invocations', 2);
  functions.flush();
  return store;
}

it('adds counters up, keeps the last value of states, and quantiles of durations', () => {
  const store = filledStore();
  expect(store.total('EventsIn')).toBe(7);
  expect(store.total('EventsIn', ({ cluster }) => cluster === 'a')).toBe(3);
  expect(store.total('CircuitOpen')).toBe(0);
  expect([
    store.quantile('SyncLatency', 0.5),
    store.quantile('SyncLatency', 0.99),
    store.quantile('ApiLatency', 0.5),
  ]).toEqual([20, 400, undefined]);
  expect(store.add({ level: 'info', message: 'x' })).toBe(false);
});

it('gives the metrics out as Prometheus text', () => {
  const text = filledStore().prometheus();
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      '# TYPE fleet_endpoints_events_in_total counter',
      'fleet_endpoints_events_in_total{cluster="a"} 3',
      'fleet_endpoints_events_in_total{cluster="b"} 4',
      '# TYPE fleet_endpoints_circuit_open gauge',
      'fleet_endpoints_circuit_open{cluster="a"} 0',
      '# TYPE fleet_endpoints_sync_latency_milliseconds summary',
      'fleet_endpoints_sync_latency_milliseconds{cluster="a",quantile="0.99"} 400',
      'fleet_endpoints_sync_latency_milliseconds_sum{cluster="a"} 430',
      'fleet_endpoints_sync_latency_milliseconds_count{cluster="a"} 3',
      '# TYPE aws_lambda_concurrent_executions gauge',
      'aws_lambda_concurrent_executions{function_name="sync"} 1',
      'aws_lambda_invocations_total{function_name="sync"} 2',
      'aws_sqs_approximate_number_of_messages_visible{queue_name="a-syncs"} 7',
    ]),
  );
});

it('the Prometheus page has no states of the fleet, whose newest value belongs to one cluster', () => {
  const store = filledStore();
  store.add({
    _aws: {
      Timestamp: 0,
      CloudWatchMetrics: [
        { Namespace: 'FleetEndpoints', Dimensions: [[]], Metrics: [{ Name: 'OpenCircuits', Unit: 'Count' }] },
      ],
    },
    OpenCircuits: [1, 0],
  });
  expect(store.prometheus()).not.toContain('open_circuits');
});

it('sums a run up in one sentence', () => {
  expect(summary(filledStore())).toBe(
    '7 events led to 0 runs (0 failed) and 0 writes; a change took 20 ms at p50, 400 ms at p99; 7 messages wait in the queues; 2 dead letters',
  );
});

it('a count of one is in the singular', () => {
  const store = metricsStore();
  const metrics = emfMetrics(
    (line) => store.add(JSON.parse(line)),
    () => 0,
    metricsNamespace,
  );
  for (const metric of ['EventsIn', 'SyncsWritten', 'WritesEndpoints', 'ShadowDifferences'] as const)
    metrics.put(metric, 1, { cluster: 'a' });
  metrics.flush();
  expect(summary(store)).toMatch(/^1 event led to 1 run \(0 failed\) and 1 write; .*; 1 difference$/);
});

it('the console serves its routes on the loopback interface and lists them', async () => {
  const server = await startConsole(0, { '/metrics': () => ({ type: 'text/plain', body: 'x 1\n' }) });
  const answer = await fetch(`${server.url}/metrics?x=1`);
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'text/plain',
    'x 1\n',
  ]);
  expect((await fetch(`${server.url}/constructor`)).status).toBe(404);
  expect((await fetch(`${server.url}/metrics`, { method: 'POST' })).status).toBe(405);
  const { port } = new URL(server.url);
  await expect(startConsole(Number(port), {})).rejects.toThrow(
    `port ${port} is in use: set PORT to another port, or to 0 for any free port`,
  );
  server.close();
});

function shown(verbose = false) {
  const lines: string[] = [];
  let now = 0;
  const take = childLines({
    store: metricsStore(),
    print: (line) => lines.push(line),
    now: () => now,
    verbose,
  });
  const log = jsonLog(
    (line) => take('sync', line),
    () => now,
    { stage: 'sync' },
  );
  return { lines, take, log, elapse: (ms: number) => (now += ms) };
}

it('shows warnings and errors of the processes as short lines, and differences', () => {
  const { lines, log, take } = shown();
  log.info('service synced', { cluster: 'a' });
  log.warn('circuit open', {
    cluster: 'a',
    waitMs: 300,
    error: new Error('connect', { cause: new Error('refused') }),
  });
  log.info('shadow difference', {
    cluster: 'a',
    namespace: 'shop',
    service: 'web',
    differences: ['Endpoints: missing in the cluster: 10.0.0.1'],
  });
  const error = new Error('GET /api: refused');
  log.warn('cluster cannot be reached', {
    cluster: 'a',
    requestId: 'r',
    coldStart: true,
    reason: `ClusterApiError: ${error.message}`,
    error,
  });
  take('relay a', '{"broken');
  expect(lines).toEqual([
    'sync: circuit open a waitMs=300 error="connect: refused"',
    'difference: a shop/web',
    '  Endpoints: missing in the cluster: 10.0.0.1',
    'sync: cluster cannot be reached a error="GET /api: refused"',
    'relay a: {"broken',
  ]);
});

it('shows a message that repeats a few times and then how often it came', () => {
  const { lines, log, elapse } = shown(true);
  for (let i = 0; i < 10; i++) log.info('service synced', { n: i });
  elapse(11_000);
  log.info('service synced', { n: 10 });
  expect(lines).toEqual([
    'sync: service synced n=0',
    'sync: service synced n=1',
    'sync: service synced n=2',
    'sync: service synced (and 7 more)',
    'sync: service synced n=10',
  ]);
});

it('draws the live line below the lines that stay, and none where there is no terminal', () => {
  const draw = (isTTY: boolean) => {
    let text = '';
    const t = terminal({ isTTY, columns: 10, write: (more: string) => (text += more) });
    t.live('0123456789abc');
    t.print('line');
    return text;
  };
  expect(draw(true)).toBe('\r\x1b[2K012345678\r\x1b[2Kline\n012345678');
  expect(draw(false)).toBe('line\n');
});
