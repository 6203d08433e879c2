import { describe, expect, it } from 'vitest';
import { readCluster } from '#shared/clusters/record.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { podForAnswers } from '#shared/store/inputs/pod-for-answers.ts';
import type { Item } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const labelled = (app: string, name = 'p') => pod(name, { labels: { app } });
const named = (name: string, app: string) => ({
  ...service({ selector: { app } }),
  metadata: { ...service().metadata, name },
});
const woken = (hub: IngestHub) => hub.woken().map((m) => m.name);

/** Until it is called again, wake-ups are refused: what comes before them has been written, and no more. */
function refuseWakeUps(hub: IngestHub): () => void {
  const { send } = hub.queues.syncs;
  hub.queues.syncs.send = async () => {
    throw new Error('refused');
  };
  return () => {
    hub.queues.syncs.send = send;
  };
}

async function withServices() {
  const hub = await ingestHub();
  await hub.ingest(
    hub.live(
      'Service',
      3,
      ...['a', 'b', 'c'].map((app, i) => entry('Service', i + 1, named(`svc-${app}`, app))),
    ),
  );
  hub.woken();
  return hub;
}

it.each([
  ['no version', undefined],
  ['an empty version', ''],
  ['a number as its version', 7],
  ['bytes as its version', new Uint8Array([1])],
  ['a set as its version', new Set([1])],
])('a stored record with %s is replaced', async (_what, version) => {
  const hub = await ingestHub();
  await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
  const damaged = ({ v: _, ...rest }: Item): Item => ({
    ...rest,
    ...(version !== undefined && { v: version }),
  });
  hub.table.restore(hub.table.dump().map((item) => (item.pk === 'c#POD#ns' ? damaged(item) : item)));
  expect(await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, labelled('b'))))).toEqual([]);
  expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(1, '6'));
});

describe('the notifications of a pod', () => {
  it('the notifications of a pod go to its former and its new service', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    expect(woken(hub)).toEqual(['svc-a']);
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, labelled('b'))));
    expect(woken(hub)).toEqual(['svc-a', 'svc-b']);
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.unnotifiedLabels).toBeUndefined();
  });

  it('the notifications of a pod are repeated with the message: the first ones may not have been sent', async () => {
    const hub = await withServices();
    const message = hub.live('Pod', 5, entry('Pod', 5, labelled('a')));
    const accept = refuseWakeUps(hub);
    expect(await hub.ingest(message)).toHaveLength(1);
    accept();
    expect(await hub.ingest(message)).toEqual([]);
    expect(woken(hub)).toEqual(['svc-a']);
    await hub.ingest(message);
    expect(woken(hub)).toEqual(['svc-a']);
  });

  it('the notifications of a pod are sent when a list shows a listed pod without notification, and only then', async () => {
    const hub = await withServices();
    const message = hub.list('Pod', 5, entry('Pod', 5, labelled('a')));
    const accept = refuseWakeUps(hub);
    expect(await hub.ingest(message)).toHaveLength(1);
    accept();
    expect(await hub.ingest(message)).toEqual([]);
    expect(woken(hub)).toEqual(['svc-a']);
    await hub.ingest(message);
    expect(woken(hub)).toEqual([]);
  });

  it('grows over versions that were never announced', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    hub.woken();
    const accept = refuseWakeUps(hub);
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, labelled('b'))));
    accept();
    await hub.ingest(hub.live('Pod', 7, entry('Pod', 7, labelled('c'))));
    expect(woken(hub)).toEqual(['svc-a', 'svc-b', 'svc-c']);
  });

  it('the notifications of a pod are also sent by an older entry', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    hub.woken();
    // The write of version 7 arrives, its answer does not.
    const { put } = hub.table;
    hub.table.put = async (...args) => {
      await put(...args);
      throw new Error('the answer got lost');
    };
    expect(await hub.ingest(hub.live('Pod', 7, entry('Pod', 7, labelled('b'))))).toHaveLength(1);
    hub.table.put = put;
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, labelled('c'))));
    expect(woken(hub)).toEqual(['svc-a', 'svc-b']);
  });

  it('the notifications of a pod follow a newer version of its services, once it is written', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    hub.woken();
    await hub.ingest(hub.live('Service', 9, entry('Service', 9, named('svc-c', 'a'))));
    hub.woken();
    await hub.ingest(hub.live('Pod', 10, entry('Pod', 10, pod('p', { labels: { app: 'a' }, ready: false }))));
    expect(woken(hub)).toEqual(['svc-a', 'svc-c']);
  });
});

describe('a service that changes its selector during the write of a pod', () => {
  it('a service that changes its selector during the write of a pod is woken by the pod if it may have run before the write', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    hub.woken();
    const { put } = hub.table;
    // The service is written, and run, while the pod is written.
    hub.table.put = async (item, condition) => {
      hub.table.put = put;
      await hub.ingest(hub.live('Service', 9, entry('Service', 9, named('svc-c', 'a'))));
      expect(woken(hub)).toEqual(['svc-c']);
      return put(item, condition);
    };
    await hub.ingest(hub.live('Pod', 10, entry('Pod', 10, labelled('b'))));
    expect(woken(hub)).toEqual(['svc-a', 'svc-b', 'svc-c']);
  });
});

describe('a version', () => {
  it('a version is written although nothing in it has changed, so that a late older one loses', async () => {
    const hub = await withServices();
    await hub.ingest(
      hub.live('Pod', 5, entry('Pod', 5, labelled('a'))),
      hub.live('Pod', 8, entry('Pod', 8, labelled('a'))),
    );
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, labelled('b'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(1, '8'));
  });

  it('a version of a deletion is kept even of an object that was never seen', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 8, entry('Pod', 8, undefined, 'p')));
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeUndefined();
    expect(woken(hub)).toEqual([]);
  });

  it('a version of another pod of that name wakes the services of both', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, labelled('a'))));
    hub.woken();
    await hub.ingest(
      hub.live(
        'Pod',
        9,
        entry('Pod', 9, { ...labelled('b'), metadata: { ...labelled('b').metadata, uid: 'another' } }),
      ),
    );
    expect(woken(hub)).toEqual(['svc-a', 'svc-b']);
  });
});

describe('a batch', () => {
  it('a batch continues without unreadable messages, which are quarantined with the reason', async () => {
    const hub = await withServices();
    const failed = await hub.ingest(
      'garbage',
      { ...hub.live('Pod', 5), v: 99 },
      { ...hub.live('Pod', 5), cluster: 'another' },
      hub.live('Pod', 5, entry('Pod', 5, labelled('a'))),
    );
    expect(failed).toEqual([]);
    expect(woken(hub)).toEqual(['svc-a']);
    expect(hub.queues.quarantine.waiting().map((m) => m.body)).toEqual([
      expect.stringContaining('not JSON'),
      expect.stringContaining('v is 99'),
      expect.stringContaining('names cluster another'),
    ]);
  });

  it('a batch wakes a service once for any number of its pods', async () => {
    const hub = await withServices();
    await hub.ingest(
      hub.live(
        'Pod',
        20,
        ...Array.from({ length: 12 }, (_, i) => entry('Pod', i + 5, labelled('a', `p${i}`))),
      ),
    );
    expect(woken(hub)).toEqual(['svc-a']);
  });
});

it('a node whose change wakes no service still raises the version of the nodes, by which workers cache them', async () => {
  const hub = await ingestHub();
  const node = (cpu: string) => ({
    metadata: { name: 'n', uid: 'n', labels: { 'topology.kubernetes.io/zone': 'a' } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const version = async () => (await readCluster(hub.table, 'c'))?.nodesVersion;
  await hub.ingest(hub.live('Node', 5, entry('Node', 5, node('2'))));
  const before = await version();
  await hub.ingest(hub.live('Node', 6, entry('Node', 6, node('4'))));
  expect(await version()).toBe((before ?? 0) + 1);
  await hub.ingest(hub.live('Service', 7, entry('Service', 7, service())));
  expect(await version()).toBe((before ?? 0) + 1);
});

it('a pod that is relabelled repeatedly without notifications stays within the size of an item', async () => {
  const hub = await ingestHub();
  const tellAgain = refuseWakeUps(hub);
  const many = (n: number) =>
    Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`label-${i}-${n}`, 'x'.repeat(63)]));
  for (let n = 1; n <= 12; n++)
    await hub.ingest(
      hub.live('Pod', 4 + n, entry('Pod', 4 + n, pod('p', { labels: { ...many(n), app: 'a' } }))),
    );
  tellAgain();
  expect(await hub.ingest(hub.live('Pod', 20, entry('Pod', 20, pod('p'))))).toEqual([]);
  expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(1, '20'));
});

describe('why a pod is not ready', () => {
  const unready = pod('p', { labels: { app: 'a' }, ready: false });
  const of = (rv: number, notReady?: string) => ({
    ...entry('Pod', rv, unready),
    ...(notReady !== undefined && { notReady }),
  });
  const why = async (hub: Awaited<ReturnType<typeof withServices>>) =>
    (await readObject(hub.store, 'Pod', 'ns', 'p'))?.notReady;

  it('why a pod is not ready is stored beside it, and goes when the pod is ready', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, of(5, '{"p":"Evicted"}')));
    expect(podForAnswers((await readObject(hub.store, 'Pod', 'ns', 'p'))!)?.status?.reason).toBe('Evicted');
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, pod('p', { labels: { app: 'a' }, ready: true }))));
    expect(await why(hub)).toBeUndefined();
  });

  it('a change of it alone wakes nothing and counts as no write of the namespace', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, of(5, '{}')));
    expect(woken(hub)).toEqual(['svc-a']);
    const others = () => hub.table.dump().filter((item) => item.pk !== 'c#POD#ns');
    const before = others();
    const { write } = hub.table.units;
    await hub.ingest(hub.live('Pod', 6, of(6, '{"p":"x"}')));
    expect(await why(hub)).toBe('{"p":"x"}');
    expect(woken(hub)).toEqual([]);
    expect(others()).toEqual(before);
    expect(hub.table.units.write - write).toBe(1);
  });

  it('a list keeps it as the list has it', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, of(5, '{"p":"x"}')));
    await hub.ingest(hub.list('Pod', 9, of(7, '{"p":"y"}')));
    expect(await why(hub)).toBe('{"p":"y"}');
  });

  it('text that is too long is refused with its pod alone', async () => {
    const hub = await withServices();
    await hub.ingest(hub.live('Pod', 5, of(5, 'x'.repeat(1_025))));
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeUndefined();
    expect(hub.queues.quarantine.waiting()).toHaveLength(1);
  });
});
