/**
 * The cost of a change of a pod whose service is exported, by the number of importing clusters, or not
 * exported.
 */

import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';
import { batchKind } from '../batch-kind.ts';
import { clusterObjects, exportOf, withReadiness } from './cluster-objects.ts';
import { lambda, price } from './prices.ts';

const size = { namespaces: 1, services: 20, podsPerService: 10 };
const namespace = 'shop-0';
const name = 'service-0';
const changes = 60;
const everySeconds = 5;

/** Billed units of a set's hub. */
export interface Use {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly lambdaDollars: number;
}

interface Row {
  readonly what: string;
  readonly importers: number;
  /** Undefined: the cluster takes no part in a set. */
  readonly exporter?: Partial<MemberOptions> | undefined;
  readonly isExported: boolean;
  /** Changes that come at once. */
  readonly burst: number;
}

const exporter: Partial<MemberOptions> = { exports: { namespaces: 'all' }, sameness: 'all' };
const rows: readonly Row[] = [
  { what: 'cluster that takes no part in a set', importers: 0, isExported: false, burst: 1 },
  {
    what: 'not exported, in a cluster that exports another service',
    importers: 1,
    exporter,
    isExported: false,
    burst: 1,
  },
  { what: 'exported, 1 importer', importers: 1, exporter, isExported: true, burst: 1 },
  { what: 'exported, 9 importers', importers: 9, exporter, isExported: true, burst: 1 },
  { what: 'exported, 99 importers', importers: 99, exporter, isExported: true, burst: 1 },
  { what: 'exported, 9 importers, 5 changes at once', importers: 9, exporter, isExported: true, burst: 5 },
];

/**
 * Fails where a service that is not exported costs a write more than in a cluster that takes no part (MC-58).
 */
export async function printExports(): Promise<void> {
  console.log('A change of a pod’s readiness where clusters export, without logs, and each echo by itself\n');
  console.log('| | write units | read units | queue requests | US dollars a million changes |');
  console.log('| --- | --- | --- | --- | --- |');
  const writes: number[] = [];
  let parts = '';
  for (const row of rows) {
    const use = await useOf(row);
    const each = (n: number): string => (n / changes).toFixed(1);
    console.log(
      `| ${[row.what, each(use.writeUnits), each(use.readUnits), each(use.queueRequests), ((dollarsOf(use) / changes) * 1e6).toFixed(2)].join(' | ')} |`,
    );
    writes.push(use.writeUnits);
    if (row.importers === 99) parts = partsOf(use);
  }
  const [alone = 0, beside = 0] = writes;
  console.log(`\nThe row of 99 importers in parts: ${parts}.`);
  // Sweep and heartbeats come in between.
  if (beside > alone + changes / 20)
    throw new Error(
      `a service that is not exported costs ${beside - alone} write units more where another one is`,
    );
  console.log('');
}

function partsOf({ writeUnits, readUnits, queueRequests, lambdaDollars }: Use): string {
  const dollars = {
    'table writes': writeUnits * price.writeUnit,
    'table reads': readUnits * price.readUnit,
    queues: queueRequests * price.queueRequest,
    Lambda: lambdaDollars,
  };
  return Object.entries(dollars)
    .map(([part, of]) => `${part} ${((of / changes) * 1e6).toFixed(2)}`)
    .join(', ');
}

export const dollarsOf = ({ writeUnits, readUnits, queueRequests, lambdaDollars }: Use): number =>
  writeUnits * price.writeUnit +
  readUnits * price.readUnit +
  queueRequests * price.queueRequest +
  lambdaDollars;

/** Returns a function that resolves to the usage of a run. */
export function meterOf(world: SetWorld): (run: () => Promise<void>) => Promise<Use> {
  const counts = countQueues(world);
  return async (run) => {
    world.table.resetUnits();
    counts.reset();
    await run();
    const { read, write } = world.table.units;
    return {
      writeUnits: write,
      readUnits: read,
      queueRequests: counts.requests,
      lambdaDollars: counts.dollars,
    };
  };
}

export const difference = (a: Use, b: Use): Use => ({
  writeUnits: a.writeUnits - b.writeUnits,
  readUnits: a.readUnits - b.readUnits,
  queueRequests: a.queueRequests - b.queueRequests,
  lambdaDollars: a.lambdaDollars - b.lambdaDollars,
});

async function useOf(row: Row): Promise<Use> {
  const world = await start(row);
  const take = meterOf(world);
  const seconds = (changes / row.burst) * everySeconds;
  // Heartbeats and sweep cost the same without any change.
  const idle = await take(() => world.pass(seconds));
  return difference(await take(() => change(world, row.burst)), idle);
}

async function start({ importers, exporter: member, isExported }: Row): Promise<SetWorld> {
  const exported = isExported ? name : 'service-1';
  const given = [...clusterObjects(size), ...(member ? [exportOf(namespace, exported)] : [])];
  const importing: MemberOptions = { imports: 'active', sameness: 'all', given: [namespaceObject] };
  const world = await SetWorld.start({
    b: { mode: 'active', ...member, given },
    ...Object.fromEntries(Array.from({ length: importers }, (_, i) => [`a${i}`, importing])),
  });
  // The time covers the first lists, imports, and the wake-ups of the switches.
  await world.pass(150);
  return world;
}

async function change(world: SetWorld, burst: number): Promise<void> {
  const { store } = world.of('b');
  const pods = store
    .list('Pod', namespace)
    .filter((pod) => pod.metadata.labels?.['app.kubernetes.io/name'] === name);
  for (let i = 0; i < changes; i += burst) {
    for (let k = 0; k < burst; k++) {
      const n = i + k;
      store.apply(
        withReadiness(pods[n % pods.length] as RawObject, Math.floor(n / pods.length) % 2 === 1, world.nowMs),
      );
    }
    await world.pass(everySeconds);
  }
}

/** As SQS bills: a request sends, receives or deletes up to ten messages. */
function countQueues(world: SetWorld): { requests: number; dollars: number; reset(): void } {
  const counts = {
    requests: 0,
    dollars: 0,
    reset() {
      counts.requests = 0;
      counts.dollars = 0;
    },
  };
  for (const { queues } of world.members.values())
    for (const [stage, queue] of [['ingest', queues.events] as const, ['sync', queues.syncs] as const]) {
      const { send, receive } = queue;
      Object.assign(queue, {
        send: (messages: Parameters<typeof send>[0]) => {
          counts.requests += Math.ceil(messages.length / 10);
          return send.call(queue, messages);
        },
        receive: (most: number) => {
          const records = receive.call(queue, most);
          if (records.length === 0) return records;
          counts.requests += 2;
          const { batchMs, moreMs, gb } =
            lambda[
              batchKind(
                stage,
                records.map((r) => r.body),
              )
            ];
          counts.dollars +=
            ((batchMs + (records.length - 1) * moreMs) / 1000) * gb * price.lambdaGbSecond +
            price.lambdaRequest;
          return records;
        },
      });
    }
  return counts;
}

const namespaceObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, uid: 'ns' },
} as RawObject;
