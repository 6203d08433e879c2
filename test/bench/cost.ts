/**
 * `npm run bench -- cost`: what a million events cost. An event is an object that the relay forwards: a pod's change, and each echo of what we wrote.
 * The real ingest and sync run over a table and queues in memory that count as AWS bills; what a batch takes of Lambda is an estimate for AWS, because
 * this machine's own milliseconds say nothing of it.
 */
import type { RawObject } from '#infra/local/apiserver/kinds.ts';
import { World } from '#test/conformance/world.ts';

/** us-east-1, on demand, US dollars. */
const price = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  queueRequest: 0.4e-6,
  lambdaGbSecond: 13.3334e-6,
  lambdaRequest: 0.2e-6,
  logGb: 0.5,
};

/** Milliseconds of a warm batch on AWS, from published latencies of each call (SQS 8-10, DynamoDB 5-8, one API write 15), and memory in GB. */
const lambda = {
  ingest: { batchMs: 30, messageMs: 1, gb: 1 },
  sync: { batchMs: 45, messageMs: 3, gb: 1.769 },
};
/** One EMF line and the platform's report a batch. */
const logBytesPerBatch = 900;

interface Scenario {
  readonly name: string;
  readonly services: number;
  readonly podsPerService: number;
  readonly flips: number;
  /** Flips that come at once, and the time between. */
  readonly burst: number;
  readonly everyMs: number;
}

const scenarios: readonly Scenario[] = [
  { name: 'namespaces of 200 pods, 3 changes at once', services: 20, podsPerService: 10, flips: 999, burst: 3, everyMs: 2_000 },
  { name: 'namespaces of 200 pods, one change at a time', services: 20, podsPerService: 10, flips: 1_000, burst: 1, everyMs: 5_000 },
  { name: 'namespaces of 200 pods, storm', services: 20, podsPerService: 10, flips: 2_000, burst: 50, everyMs: 1_000 },
  {
    name: 'one namespace of 5,000 pods, one change at a time',
    services: 100,
    podsPerService: 50,
    flips: 200,
    burst: 1,
    everyMs: 5_000,
  },
];

interface Cost {
  readonly events: number;
  readonly perMillion: { readonly [what: string]: number };
  readonly total: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

async function costOf(s: Scenario): Promise<Cost> {
  const startAt = Date.parse('2026-01-02T00:00:00Z');
  const batches = { ingest: { batches: 0, messages: 0 }, sync: { batches: 0, messages: 0 } };
  const given = objects(s);
  const world = await World.start({
    given,
    startAt,
    settings: {},
    onBatch(stage, messages) {
      batches[stage].batches++;
      batches[stage].messages += messages;
    },
  });
  await world.runUntil(startAt + 60_000);
  world.table.resetUnits();
  for (const stage of ['ingest', 'sync'] as const) batches[stage] = { batches: 0, messages: 0 };
  const before = world.metrics.get('EventsIn') ?? 0;

  const pods = given.filter((o) => o.kind === 'Pod');
  const ready = pods.map(() => true);
  let random = 7;
  let now = world.now;
  for (let i = 0; i < s.flips; i += s.burst) {
    for (let b = 0; b < s.burst; b++) {
      random = (random * 1103515245 + 12345) & 0x7fffffff;
      const index = random % pods.length;
      ready[index] = !ready[index];
      const pod = pods[index] as RawObject;
      world.store.apply({ ...pod, status: status(pod, ready[index] === true, now) } as RawObject);
    }
    now += s.everyMs;
    await world.runUntil(now);
  }
  await world.runUntil(now + 10_000);

  const events = (world.metrics.get('EventsIn') ?? 0) - before;
  const { read, write } = world.table.units;
  const { ingest, sync } = batches;
  // Sends are batched by ten at the most; each message is received in a batch and deleted with it.
  const requests = [ingest, sync].reduce((n, q) => n + q.messages + 2 * q.batches, 0);
  const compute = (['ingest', 'sync'] as const).reduce((sum, stage) => {
    const { batchMs, messageMs, gb } = lambda[stage];
    const { batches: count, messages } = batches[stage];
    return sum + ((count * batchMs + messages * messageMs) / 1000) * gb * price.lambdaGbSecond + count * price.lambdaRequest;
  }, 0);
  const parts = {
    'table writes': write * price.writeUnit,
    'table reads': read * price.readUnit,
    queues: requests * price.queueRequest,
    Lambda: compute,
    logs: (((ingest.batches + sync.batches) * logBytesPerBatch) / 1e9) * price.logGb,
  };
  const perMillion = Object.fromEntries(Object.entries(parts).map(([what, dollars]) => [what, (dollars / events) * 1e6]));
  return {
    events,
    perMillion,
    total: Object.values(perMillion).reduce((a, b) => a + b, 0),
    readUnits: (read / events) * 1000,
    writeUnits: (write / events) * 1000,
  };
}

function objects(s: Scenario): RawObject[] {
  const list: object[] = [];
  let rv = 100;
  const meta = (name: string, more: object = {}) => ({
    name,
    namespace: 'shop',
    uid: `00000000-0000-4000-8000-${String(++rv).padStart(12, '0')}`,
    resourceVersion: String(rv),
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  });
  for (let i = 0; i < s.services; i++) {
    const labels = { 'app.kubernetes.io/name': `service-${i}`, 'app.kubernetes.io/part-of': 'shop' };
    list.push({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: meta(`service-${i}`, { labels }),
      spec: {
        type: 'ClusterIP',
        clusterIP: `10.0.${i >> 8}.${i & 255}`,
        ipFamilies: ['IPv4'],
        selector: { 'app.kubernetes.io/name': `service-${i}` },
        ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http' }],
      },
    });
    for (let p = 0; p < s.podsPerService; p++)
      list.push(pod(`service-${i}-6d4cf56db6-${p.toString(36).padStart(5, 'x')}`, { ...labels, 'pod-template-hash': '6d4cf56db6' }, list.length));
  }
  for (let n = 0; n < 20; n++) {
    list.push({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        ...meta(`ip-10-1-${n}-7.ec2.internal`),
        namespace: undefined,
        labels: { 'topology.kubernetes.io/zone': `us-east-1${'abc'[n % 3]}` },
      },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
  return list as RawObject[];

  function pod(name: string, labels: object, i: number): object {
    const ip = `10.${100 + (i >> 14)}.${(i >> 6) & 255}.${1 + (i & 63)}`;
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta(name, { labels }),
      spec: {
        nodeName: `ip-10-1-${i % 20}-7.ec2.internal`,
        containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      },
      status: { phase: 'Running', podIP: ip, podIPs: [{ ip }] },
    };
    return { ...object, status: status(object, true, Date.parse('2026-01-01T00:00:00Z')) };
  }
}

function status(pod: object, ready: boolean, now: number): object {
  const { status: old } = pod as { readonly status: object };
  const lastTransitionTime = new Date(now).toISOString().replace('.000Z', 'Z');
  return { ...old, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }] };
}

console.log('US dollars for a million events that the relay forwards (pod changes, and echoes of our writes)\n');
for (const scenario of scenarios) {
  const { events, perMillion, total, readUnits, writeUnits } = await costOf(scenario);
  console.log(
    `${scenario.name}: $${total.toFixed(2)}   (${events} events; per 1,000: ${writeUnits.toFixed(0)} write and ${readUnits.toFixed(0)} read units)`,
  );
  for (const [what, dollars] of Object.entries(perMillion)) console.log(`  ${what.padEnd(13)} $${dollars.toFixed(2)}`);
}
