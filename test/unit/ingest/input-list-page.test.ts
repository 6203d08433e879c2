import { describe, expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { clearOwnListRequest } from '#shared/clusters/relay/first-lists.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { slicesManagedBy } from '#shared/kube/names.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { isAlive, readObject, readObjects } from '#shared/store/inputs/objects.ts';
import { workKey } from '#shared/store/keys.ts';
import { saveOutput } from '#shared/store/outputs/outputs.ts';
import type { Change, Item, Key, WriteCondition } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

const svc = { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' } as const;
const minutes = 60_000;

describe('a list part of an input kind', () => {
  it('brings back what an earlier list had left out although it was there', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.live('Service', 5, entry('Service', 5, service())),
      hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
    );
    await hub.ingest(hub.list('Pod', 10));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeUndefined();
    hub.woken();

    await hub.ingest(hub.list('Pod', 20, entry('Pod', 6, pod('p'))));
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toMatchObject({
      version: versionOf(1, '20'),
      projection: expect.any(String),
    });
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
  });

  it('a list is right about an object older than earlier reads: etcd was restored, and its revision raised', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.live('Service', 5, entry('Service', 5, service())),
      hub.live('Pod', 9, entry('Pod', 9, pod('p', { labels: { app: 'lost' } }))),
    );
    hub.woken();
    await hub.ingest(hub.list('Pod', 1_000, entry('Pod', 6, pod('p'))));
    const put = await readObject(hub.store, 'Pod', 'ns', 'p');
    expect(labelsOfProjectedPod(put?.projection ?? '')).toEqual(pod('p').metadata.labels);
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);

    // Once is enough, and what comes after the list wins.
    await hub.ingest(hub.list('Pod', 1_010, entry('Pod', 6, pod('p'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(put?.version);
    await hub.ingest(hub.live('Pod', 1_020, entry('Pod', 1_020, undefined, 'p')));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeUndefined();
  });

  it('believes the list where it shows the version that was known in another way: a former relay has lied, or projected otherwise', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.live('Service', 5, entry('Service', 5, service())),
      hub.live('Pod', 9, entry('Pod', 9, pod('p', { labels: { app: 'lost' } }))),
    );
    hub.woken();
    await hub.ingest(hub.list('Pod', 20, entry('Pod', 9, pod('p'))));
    const put = await readObject(hub.store, 'Pod', 'ns', 'p');
    expect(labelsOfProjectedPod(put?.projection ?? '')).toEqual(pod('p').metadata.labels);
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
    await hub.ingest(hub.list('Pod', 30, entry('Pod', 9, pod('p'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(put?.version);
  });

  it('a list part of an input kind does not restore an entry older than later reads', async () => {
    const hub = await ingestHub();
    await hub.ingest(hub.live('Pod', 15, entry('Pod', 15, pod('p', { labels: { app: 'new' } }))));
    await hub.ingest(hub.list('Pod', 10, entry('Pod', 6, pod('p'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.version).toBe(versionOf(1, '15'));
  });

  it('a list part of an input kind does not restore an object that was deleted after it', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
      hub.live('Pod', 15, entry('Pod', 15, undefined, 'p')),
    );
    await hub.ingest(hub.list('Pod', 10, entry('Pod', 6, pod('p'))));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeUndefined();
  });

  it('drops what comes late from before it and is not in it', async () => {
    const hub = await ingestHub();
    await hub.ingest(hub.list('Pod', 10));
    await hub.ingest(hub.live('Pod', 6, entry('Pod', 6, pod('p'))));
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeUndefined();
  });

  it('a list part of an input kind leaves objects that were created after it', async () => {
    const hub = await ingestHub();
    await hub.ingest(hub.live('Pod', 12, entry('Pod', 12, pod('p'))));
    await hub.ingest(hub.list('Pod', 10));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeDefined();
  });

  it('a list part of an input kind does not take away more than 20 objects and a fifth of them before sweep has looked', async () => {
    const hub = await ingestHub();
    const pods = Array.from({ length: 30 }, (_, i) => entry('Pod', 6, pod(`p${i}`)));
    await hub.ingest(hub.list('Pod', 10, ...pods));
    const shrunken = hub.list('Pod', 20);
    await hub.ingest(shrunken);
    expect((await readObject(hub.store, 'Pod', 'ns', 'p0'))?.projection).toBeDefined();
    expect((await readCluster(hub.table, 'c'))?.lists.ownListsWanted).toEqual(['Pod']);

    await hub.ingest(await hub.confirmed({ ...shrunken, listId: 'ours' }));
    expect((await readObject(hub.store, 'Pod', 'ns', 'p0'))?.projection).toBeUndefined();
  });

  it.each([
    ['off', 0],
    ['shadow', 0],
    ['active', 40],
  ] as const)(
    'a list part takes away much at once in a shadow cluster with opt-in %s, but where Services that opt in are written',
    async (optIn, left) => {
      const hub = await ingestHub();
      await hub.ingest(
        hub.live('Pod', 5, ...Array.from({ length: 40 }, (_, i) => entry('Pod', 5, pod(`p-${i}`)))),
      );
      await switchMode(hub.table, 'c', 'shadow', Date.now());
      await switchOptIn(hub.table, 'c', optIn, Date.now());
      await hub.ingest(hub.list('Pod', 10));
      expect((await readObjects(hub.store, 'Pod', 'ns')).filter(isAlive)).toHaveLength(left);
      expect((await readCluster(hub.table, 'c'))?.lists.ownListsWanted).toEqual(left > 0 ? ['Pod'] : []);
    },
  );

  it.each(['s', 'sweep-of-mine'])(
    'a list part of an input kind is confirmed by no name of its session, such as %s',
    async (session) => {
      const hub = await ingestHub();
      await hub.ingest(
        hub.list('Pod', 10, ...Array.from({ length: 30 }, (_, i) => entry('Pod', 6, pod(`p${i}`)))),
      );
      await hub.ingest({ ...hub.list('Pod', 20), session, firstListVersion: '20' });
      expect((await readObject(hub.store, 'Pod', 'ns', 'p0'))?.projection).toBeDefined();
      expect((await readCluster(hub.table, 'c'))?.lists.ownListsWanted).toEqual(['Pod']);
    },
  );

  it('counts drift once while it waits to be confirmed: a paused cluster lists the same again and again', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.list('Pod', 10, ...Array.from({ length: 30 }, (_, i) => entry('Pod', 6, pod(`p${i}`)))),
    );
    await switchMode(hub.table, 'c', 'paused', Date.now());
    for (let i = 0; i < 5; i++) await hub.ingest(hub.list('Pod', 20 + i));
    expect(hub.metrics.get('Drift')).toBe(30);
    // Confirmed, and then another doubt.
    await clearOwnListRequest(hub.table, 'c', 'Pod', versionOf(1, '24'));
    await hub.ingest(hub.list('Pod', 30));
    expect(hub.metrics.get('Drift')).toBe(60);
  });

  it('purges a tombstone that it makes redundant once it is 15 minutes old, and none before', async () => {
    const hub = await ingestHub();
    await hub.ingest(
      hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
      hub.live('Pod', 8, entry('Pod', 8, undefined, 'p')),
    );
    hub.clock.now += 14 * minutes;
    await hub.ingest(hub.list('Pod', 20));
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeDefined();
    hub.clock.now += 2 * minutes;
    await hub.ingest(hub.list('Pod', 30));
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeUndefined();
  });

  it('keeps the tombstones of services while nothing is written, for the switch back to wake', async () => {
    const hub = await ingestHub();
    await hub.ingest(hub.live('Service', 6, entry('Service', 6, service())));
    await switchMode(hub.table, 'c', 'paused', Date.now());
    await hub.ingest(hub.live('Service', 8, entry('Service', 8, undefined, 'svc')));
    hub.clock.now += 60 * minutes;
    await hub.ingest(hub.list('Service', 20));
    expect(await readObject(hub.store, 'Service', 'ns', 'svc')).toBeDefined();
  });
});

describe('a list part of an output kind', () => {
  const slice = (name: string): EndpointSlice => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '7',
      generation: 1,
      labels: {
        'kubernetes.io/service-name': 'svc',
        'endpointslice.kubernetes.io/managed-by': slicesManagedBy,
      },
    },
    addressType: 'IPv4',
    endpoints: [],
  });
  const seen = { namespace: 'ns', name: 'svc-x', uid: 'u', service: 'svc', managedBy: slicesManagedBy };
  const known = async () => {
    const hub = await ingestHub();
    await hub.ingest(hub.live('Service', 5, entry('Service', 5, service())));
    await saveOutput(hub.table, svc, {
      kind: 'EndpointSlice',
      name: 'svc-x',
      uid: 'u',
      version: versionOf(1, '7'),
      generation: 1,
      object: slice('svc-x'),
    });
    hub.woken();
    return hub;
  };
  /** Returns the entries for the second look, as they return. */
  const secondLook = (hub: Awaited<ReturnType<typeof known>>) => {
    const bodies = hub.queues.events.waiting().map((m) => m.body);
    hub.queues.events.purge();
    return hub.ingest(...bodies);
  };

  it('a slice that was given to another service without an event is found at the second look', async () => {
    const hub = await known();
    await hub.ingest(
      hub.list('EndpointSlice', 20, { ...seen, resourceVersion: '12', generation: 2, service: '' }),
    );
    expect(hub.woken()).toEqual([]);
    await secondLook(hub);
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
    expect((await readWork(hub.table, svc)).apiReadGeneration).toBeGreaterThan(0);
  });

  it('a list part of an output kind causes a read of a slice that is older than its saved state before the list', async () => {
    const hub = await known();
    await hub.ingest(hub.list('EndpointSlice', 1_000, { ...seen, resourceVersion: '6', generation: 1 }));
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
    expect((await readWork(hub.table, svc)).apiReadGeneration).toBeGreaterThan(0);
  });

  it('finds a slice that is gone', async () => {
    const hub = await known();
    await hub.ingest(hub.list('EndpointSlice', 20));
    await secondLook(hub);
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
  });

  it('a list part wakes no service for saved outputs', async () => {
    const hub = await known();
    await hub.ingest(hub.list('EndpointSlice', 20, { ...seen, resourceVersion: '7', generation: 1 }));
    expect(hub.queues.events.waiting()).toEqual([]);
    expect(hub.woken()).toEqual([]);
  });

  it('looks again at a slice that is not ours while a run is under way, which may have made it', async () => {
    const hub = await known();
    const edited = {
      namespace: 'ns',
      name: 'svc-new',
      resourceVersion: '12',
      uid: 'n',
      generation: 2,
      service: 'svc',
      managedBy: 'somebody',
    };
    await hub.ingest(hub.live('EndpointSlice', 12, edited));
    const made = slice('svc-new');
    await saveOutput(hub.table, svc, {
      kind: 'EndpointSlice',
      name: 'svc-new',
      uid: 'n',
      version: versionOf(1, '11'),
      generation: 1,
      object: made,
    });
    await secondLook(hub);
    expect((await readWork(hub.table, svc)).apiReadGeneration).toBeGreaterThan(0);
  });

  it('sends for a generation that a crash left raised and unsent, although the entry is explained by now', async () => {
    const hub = await known();
    await hub.ingest(hub.live('EndpointSlice', 12, { ...seen, resourceVersion: '12', generation: 2 }));
    // The second look raises, and its worker dies before it sends.
    const bodies = hub.queues.events.waiting().map((m) => m.body);
    const send = hub.queues.syncs.send;
    hub.queues.syncs.send = async () => {
      throw new Error('died');
    };
    await hub.ingest(...bodies);
    hub.queues.syncs.send = send;
    // A run that was under way meanwhile has read the slice.
    await saveOutput(hub.table, svc, {
      kind: 'EndpointSlice',
      name: 'svc-x',
      uid: 'u',
      version: versionOf(1, '12'),
      generation: 2,
      object: slice('svc-x'),
    });
    await hub.ingest(...bodies);
    expect(hub.woken().map((m) => m.name)).toEqual(['svc']);
  });

  it('finds Endpoints of ours that a late worker made after the end of their service, and lets a person’s be', async () => {
    const hub = await known();
    await hub.ingest(hub.live('Service', 8, entry('Service', 8, undefined, 'svc')));
    hub.woken();
    await hub.table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' }), {
      set: { ep_done: 99, sl_done: 99 },
    });
    const endpoints = { namespace: 'ns', name: 'svc', resourceVersion: '12', uid: 'late', service: 'svc' };
    await hub.ingest(hub.live('Endpoints', 12, endpoints));
    await secondLook(hub);
    expect((await readWork(hub.table, svc)).apiReadGeneration).toBe(0);
    await hub.ingest(hub.live('Endpoints', 12, { ...endpoints, managedBy: 'endpoint-controller' }));
    await secondLook(hub);
    expect((await readWork(hub.table, svc)).apiReadGeneration).toBeGreaterThan(0);
  });
});

describe('a list part with the first objects of a namespace', () => {
  const pods = (count: number) => Array.from({ length: count }, (_, i) => entry('Pod', 5, pod(`p${i}`)));
  async function ingestCounted(
    hub: Awaited<ReturnType<typeof ingestHub>>,
    count: number,
  ): Promise<readonly string[]> {
    const calls: string[] = [];
    const { put, update } = hub.table;
    const deps = {
      ...hub.deps,
      table: {
        ...hub.table,
        put(item: Item, condition?: WriteCondition) {
          calls.push(item.pk);
          return put(item, condition);
        },
        update(key: Key, change: Change, condition?: WriteCondition) {
          calls.push(key.pk);
          return update(key, change, condition);
        },
      },
    };
    expect(
      await ingestBatch(deps, 'c', [
        { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(hub.list('Pod', 10, ...pods(count))) },
      ]),
    ).toEqual([]);
    return calls.filter((pk) => /#(NS|POD)\b/.test(pk));
  }

  it('puts it into the index in one call, before them', async () => {
    const calls = await ingestCounted(await ingestHub(), 3);
    expect(calls.slice(0, 4)).toEqual(['c#NS', ...Array<string>(3).fill('c#POD#ns')]);
    expect(calls.slice(4)).not.toContain('c#NS');
  });
});
