/**
 * The cost of changes of pods (MC-58, G 30): an import batches them, and a service without export has no cost
 * for the set.
 */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { exporter, importer, object, pod, serviceExport } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const flips = 200;
const flipSeconds = 10;

/** Counted until the next call: what is written to the table, asked of it, and sent to the queue of work. */
function counting(
  world: SetWorld,
  ids: readonly string[] = [...world.members.keys()],
): () => { readonly writes: number; readonly reads: number; readonly messages: number } {
  const counted = { writes: 0, reads: 0, messages: 0 };
  const count = (target: object, what: keyof typeof counted, methods: readonly string[]): void => {
    for (const method of methods) {
      const inner = (target as { readonly [name: string]: (...args: unknown[]) => unknown })[method]?.bind(
        target,
      );
      const outer = (...args: unknown[]): unknown => {
        counted[what] += what === 'messages' ? (args[0] as readonly unknown[]).length : 1;
        return inner?.(...args);
      };
      Object.assign(target, { [method]: outer });
    }
  };
  count(world.table, 'writes', ['put', 'update', 'delete']);
  count(world.table, 'reads', ['get', 'query']);
  for (const id of ids) count(world.of(id).queues.syncs, 'messages', ['send']);
  return () => {
    const now = { ...counted };
    Object.assign(counted, { writes: 0, reads: 0, messages: 0 });
    return now;
  };
}

const labels = {
  'kubernetes.io/service-name': 'web',
  'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
};
const [ready, notReady] = ['10.2.0.2', '10.2.0.1'];
const builtInOutputs: readonly RawObject[] = [
  {
    ...object('EndpointSlice', { name: 'web-abcde', uid: 'web-abcde', labels }),
    apiVersion: 'discovery.k8s.io/v1',
    ...{ addressType: 'IPv4', ports: [], endpoints: [{ addresses: [ready], conditions: { ready: true } }] },
  },
  object(
    'Endpoints',
    { uid: 'endpoints' },
    { subsets: [{ addresses: [{ ip: ready }], notReadyAddresses: [{ ip: notReady }] }] },
  ),
];

async function flip(world: SetWorld, id: string): Promise<void> {
  for (let i = 1; i <= flips; i++) {
    world.of(id).store.apply(pod('web-1', '10.2.0.1', i % 2 === 0));
    await world.pass(flipSeconds / flips);
  }
}

it('an exported service whose pod flips 200 times in ten seconds is written once for each two seconds in its importers, and ends as it is', async () => {
  const world = await SetWorld.start({ a: importer(), c: importer(), b: exporter('10.2.0') });
  await world.pass(70);
  for (const id of ['a', 'c']) world.of(id).writes.length = 0;
  await flip(world, 'b');
  world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
  await world.pass(10);
  const { importBatchSeconds } = defaultLimits.sync;
  for (const id of ['a', 'c']) {
    const { writes, store } = world.of(id);
    expect(new Set(writes)).toEqual(new Set(['replace EndpointSlice']));
    expect(writes.length).toBeLessThanOrEqual(flipSeconds / importBatchSeconds + 2);
    const slices = store.list('EndpointSlice', 'shop');
    expect(
      slices.flatMap((s) => s.endpoints ?? []).map((e) => `${e.addresses[0]} ${e.conditions?.ready}`),
    ).toEqual(['10.2.0.1 false', '10.2.0.2 true']);
  }
});

it('a change of a pod wakes each importer once, although the exporter’s built-in controllers write its slice and Endpoints after it', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  world.of('b').outputs = 'full';
  await world.pass(70);
  const counted = counting(world, ['a']);
  world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
  await world.pass(0.2);
  for (const written of builtInOutputs) world.of('b').store.apply(written);
  await world.pass(20);
  expect(readyIn(world, 'a')).toEqual(['10.2.0.2']);
  expect(counted().messages).toBe(1);
});

it('a service that is not exported costs a set not one write and not one message, and in a namespace that exports nothing not one read', async () => {
  const other = serviceExport({ name: 'other', uid: 'other' });
  const withoutExport = (namespaces: readonly string[], given: readonly (typeof other)[]) => {
    const made = exporter('10.2.0', { exports: { namespaces } });
    return {
      ...made,
      given: [...(made.given ?? []).filter(({ kind }) => kind !== 'ServiceExport'), ...given],
    };
  };
  const costOf = async (b: ReturnType<typeof withoutExport>, acts: boolean) => {
    const world = await SetWorld.start({ a: importer(), b });
    await world.pass(130);
    const counted = counting(world);
    if (acts) await flip(world, 'b');
    else await world.pass(flipSeconds);
    await world.pass(20);
    return counted();
  };
  const flipsCost = async (b: ReturnType<typeof withoutExport>) => {
    const [flipped, idle] = [await costOf(b, true), await costOf(b, false)];
    return {
      writes: flipped.writes - idle.writes,
      reads: flipped.reads - idle.reads,
      messages: flipped.messages - idle.messages,
    };
  };
  const alone = await flipsCost(withoutExport([], []));
  expect(alone.writes).toBeGreaterThan(flips);
  const elsewhere = await flipsCost(withoutExport(['billing'], []));
  expect(elsewhere).toEqual(alone);
  const beside = await flipsCost(withoutExport(['shop'], [other]));
  expect({ ...beside, reads: 0 }).toEqual({ ...alone, reads: 0 });
});

it('the records of an exporter’s namespace are read as often with six importers as with one', async () => {
  const readsWith = async (importers: number): Promise<number> => {
    const ids = Array.from({ length: importers }, (_, i) => `a${i}`);
    const world = await SetWorld.start({
      b: exporter('10.2.0'),
      ...Object.fromEntries(ids.map((id) => [id, importer()])),
    });
    await world.pass(70);
    const read: string[] = [];
    const { query, get } = world.table;
    Object.assign(world.table, {
      query: (...args: Parameters<typeof query>) => {
        read.push(args[0]);
        return query(...args);
      },
      get: (key: Parameters<typeof get>[0]) => {
        read.push(key.pk);
        return get(key);
      },
    });
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(20);
    for (const id of ids) expect(readyIn(world, id)).toEqual(['10.2.0.2']);
    return read.filter((pk) => /^b#(POD|SVC|NODE)\b/.test(pk)).length;
  };
  const one = await readsWith(1);
  expect(one).toBeGreaterThan(0);
  expect(await readsWith(6)).toBe(one);
});

const readyIn = (world: SetWorld, id: string): readonly (string | undefined)[] =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .flatMap((s) => s.endpoints ?? [])
    .flatMap((e) => (e.conditions?.ready ? [e.addresses[0]] : []));
