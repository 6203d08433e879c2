/** A batch of ingest without other workers enqueues the right services. */
import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { annotationSelector, slicesManagedBy } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { ingestHub, silent } from './hub.ts';

const depth = 200_000;

it.each([
  ['the whole text', '['.repeat(depth) + ']'.repeat(depth)],
  [
    'one field',
    `{"v":1,"cluster":"c","session":"s","uid":"cluster-uid","firstListVersion":"1","type":"live","kind":"Pod","asOf":${'['.repeat(depth)}${']'.repeat(depth)},"entries":[]}`,
  ],
])(
  'a message that is nested too deeply (%s) is quarantined, and the others of its batch are applied',
  async (_, text) => {
    const hub = await ingestHub();
    const nested = `z:${deflateRawSync(text).toString('base64')}`;
    const good = hub.live('Pod', 9, {
      namespace: 'ns',
      name: 'p',
      resourceVersion: '9',
      projection: encodeProjection('Pod', pod('p')),
    });
    expect(await hub.ingest(nested, good)).toEqual([]);
    expect(await readObject(hub.store, 'Pod', 'ns', 'p')).toBeDefined();
  },
);

it('a pod that is written while the switch for services that opt in is thrown wakes the service that the annotation makes its own', async () => {
  const hub = await ingestHub();
  const base = service();
  const { selector: _, ...spec } = base.spec ?? {};
  const optsIn = {
    ...base,
    metadata: { ...base.metadata, annotations: { [annotationSelector]: 'app=a' } },
    spec,
  };
  const { name, namespace = 'ns' } = optsIn.metadata;
  await hub.ingest(
    hub.live('Service', 5, {
      namespace,
      name,
      resourceVersion: '5',
      projection: encodeProjection('Service', optsIn),
    }),
  );
  const key = { cluster: 'c', namespace, kind: 'service', name } as const;
  let atSwitch = 0;
  const { put } = hub.table;
  Object.assign(hub.table, {
    put: async (...args: Parameters<typeof put>) => {
      if (args[0].pk.startsWith('c#POD#') && atSwitch === 0) {
        await switchOptIn(hub.table, 'c', 'active', hub.clock.now);
        const cluster = (await readCluster(hub.table, 'c')) as ClusterRecord;
        await addAll(
          { table: hub.table, queues: hub.deps.queues, now: () => hub.clock.now, log: silent },
          cluster,
        );
        atSwitch = (await readWork(hub.table, key)).generation;
      }
      return put(...args);
    },
  });
  const base2 = pod('p');
  const selected = { ...base2, metadata: { ...base2.metadata, namespace, labels: { app: 'a' } } };
  await hub.ingest(
    hub.live('Pod', 9, {
      namespace,
      name: 'p',
      resourceVersion: '9',
      projection: encodeProjection('Pod', selected),
    }),
  );
  expect(atSwitch).toBeGreaterThan(0);
  expect((await readWork(hub.table, key)).generation).toBeGreaterThan(atSwitch);
});

const sliceEntry = {
  namespace: 'ns',
  name: 'svc-1',
  resourceVersion: '9',
  uid: 'u',
  generation: 1,
  service: 'svc',
  managedBy: slicesManagedBy,
  object: {
    kind: 'EndpointSlice',
    metadata: { name: 'svc-1', namespace: 'ns', uid: 'u' },
    addressType: 'IPv4',
    endpoints: [],
  },
};

it('in shadow mode a slice whose message failed after it was saved wakes its service when the message comes again', async () => {
  const hub = await ingestHub();
  await switchMode(hub.table, 'c', 'shadow', hub.clock.now);
  const seen = hub.live('EndpointSlice', 9, sliceEntry);
  hub.woken();
  const { update } = hub.table;
  Object.assign(hub.table, {
    update: (...[key, ...more]: Parameters<typeof update>) => {
      if (!key.pk.includes('#WORK#')) return update(key, ...more);
      Object.assign(hub.table, { update });
      throw new Error('the table did not answer');
    },
  });
  expect(await hub.ingest(seen)).not.toEqual([]);
  expect(hub.woken()).toEqual([]);
  expect(await hub.ingest(seen)).toEqual([]);
  expect(hub.woken()).toMatchObject([{ name: 'svc' }]);
});

it('in shadow mode a list that shows every slice as it was wakes no service', async () => {
  const hub = await ingestHub();
  await switchMode(hub.table, 'c', 'shadow', hub.clock.now);
  await hub.ingest(hub.list('EndpointSlice', 10, sliceEntry));
  expect(hub.woken()).toMatchObject([{ name: 'svc' }]);
  await hub.ingest(hub.list('EndpointSlice', 20, sliceEntry));
  expect(hub.woken()).toEqual([]);
});
