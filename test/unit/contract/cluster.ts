import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasCause, isAlreadyExists, isConflict, isNotFound } from '#shared/clusters/api/errors.ts';
import type { ApiKind, ClusterApi, Creatable } from '#shared/clusters/api/port.ts';

export interface ClusterUnderTest {
  readonly api: ClusterApi;
  /** Operations that the ClusterApi lacks. */
  createNamespace(name: string): Promise<void>;
  /** Resolves while the namespace is still terminating. */
  terminateNamespace(name: string): Promise<void>;
  close(): Promise<void>;
}

/** The contract of every ClusterApi, which kube-apiserver fulfils. */
export function describeClusterApi(name: string, start: () => Promise<ClusterUnderTest>): void {
  describe(`cluster API: ${name}`, () => {
    let cluster: ClusterUnderTest;
    let api: ClusterApi;
    const namespace = `contract-${Math.random().toString(36).slice(2, 8)}`;

    beforeAll(async () => {
      cluster = await start();
      api = cluster.api;
      await cluster.createNamespace(namespace);
    });
    afterAll(() => cluster?.close());

    const meta = (name: string, rest: object = {}) => ({ namespace, name, ...rest });
    const endpoints = (name: string, ip?: string): Creatable<'Endpoints'> => ({
      metadata: meta(name),
      ...(ip && { subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] }),
    });
    const slice = (metadata: object, ...ips: string[]): Creatable<'EndpointSlice'> => ({
      metadata: { namespace, ...metadata },
      addressType: 'IPv4',
      endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports: [{ name: 'web', port: 80, protocol: 'TCP' }],
    });
    const failure = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => expect.unreachable('succeeded'),
        (e: unknown) => e,
      );

    it('a created object has uid, resourceVersion, creationTimestamp and its kind, and is got back the same', async () => {
      const made = await api.create('Endpoints', endpoints('made', '10.1.0.1'));
      expect(made).toMatchObject({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { uid: expect.any(String), creationTimestamp: expect.any(String) },
      });
      expect(made.metadata.generation).toBeUndefined();
      expect(await api.get('Endpoints', namespace, 'made')).toEqual(made);
    });

    it('a missing object is undefined to get, false to delete, and 404 to replace and patch', async () => {
      expect(await api.get('Service', namespace, 'nobody')).toBeUndefined();
      expect(await api.delete('EndpointSlice', namespace, 'nobody')).toBe(false);
      expect(isNotFound(await failure(api.patch('Service', namespace, 'nobody', { metadata: {} })))).toBe(
        true,
      );
      const put = await failure(api.replace('EndpointSlice', slice(meta('nobody')) as never));
      expect(isNotFound(put)).toBe(true);
      expect((put as Error).message).toBe('endpointslices.discovery.k8s.io "nobody" not found');
    });

    it('a taken name is AlreadyExists and no Conflict, a stale resourceVersion the other way round (API-3)', async () => {
      const made = await api.create('Endpoints', endpoints('taken', '10.1.0.1'));
      const again = await failure(api.create('Endpoints', endpoints('taken')));
      expect([isAlreadyExists(again), isConflict(again), (again as Error).message]).toEqual([
        true,
        false,
        'endpoints "taken" already exists',
      ]);
      const next = await api.replace('Endpoints', { ...made, subsets: [] });
      expect(next.subsets ?? []).toEqual([]);
      const stale = await failure(api.replace('Endpoints', { ...made, subsets: [] }));
      expect([isAlreadyExists(stale), isConflict(stale)]).toEqual([false, true]);
      expect((stale as Error).message).toBe(
        'Operation cannot be fulfilled on endpoints "taken": the object has been modified; please apply your changes to the latest version and try again',
      );
    });

    it('a PUT without resourceVersion is unconditional, one with another uid is a conflict (API-6)', async () => {
      await api.create('EndpointSlice', slice(meta('unconditional'), '10.1.0.1'));
      const put = await api.replace('EndpointSlice', slice(meta('unconditional'), '10.1.0.2') as never);
      expect(put.endpoints?.[0]?.addresses).toEqual(['10.1.0.2']);
      const other = slice(meta('unconditional', { uid: '00000000-0000-0000-0000-000000000000' }), '10.1.0.3');
      expect(isConflict(await failure(api.replace('EndpointSlice', other as never)))).toBe(true);
    });

    it('a PUT of missing Endpoints creates them, but not with a uid (API-5)', async () => {
      const made = await api.replace('Endpoints', endpoints('upsert', '10.1.0.1') as never);
      expect(made.metadata.uid).toEqual(expect.any(String));
      const ghost = await failure(
        api.replace('Endpoints', { metadata: meta('ghost', { uid: made.metadata.uid }) }),
      );
      expect(isConflict(ghost)).toBe(true);
      expect((ghost as Error).message).toContain('Precondition failed: UID');
    });

    it('a PUT that changes nothing keeps the resourceVersion (API-6)', async () => {
      const made = await api.create('EndpointSlice', slice(meta('same'), '10.1.0.1'));
      const { resourceVersion: _, managedFields: __, ...metadata } = made.metadata;
      expect((await api.replace('EndpointSlice', { ...made, metadata })).metadata.resourceVersion).toBe(
        made.metadata.resourceVersion,
      );
      expect((await api.patch('EndpointSlice', namespace, 'same', {})).metadata.resourceVersion).toBe(
        made.metadata.resourceVersion,
      );
    });

    it("a slice's generation follows content and labels, not annotations (TR-7)", async () => {
      const made = await api.create('EndpointSlice', slice({ generateName: 'gen-' }, '10.1.0.1'));
      expect(made.metadata.name).toMatch(/^gen-.{5}$/);
      expect(made.metadata.generation).toBe(1);
      const { name } = made.metadata;
      const change = async (patch: object) =>
        (await api.patch('EndpointSlice', namespace, name, patch)).metadata.generation;
      expect(await change({ metadata: { annotations: { a: 'b' } } })).toBe(1);
      expect(await change({ metadata: { labels: { a: 'b' } } })).toBe(2);
      expect(await change({ endpoints: null })).toBe(3);
    });

    it('empty lists come back as null or not at all (API-2)', async () => {
      const made = await api.create('EndpointSlice', {
        metadata: meta('empty'),
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      });
      expect([made.endpoints, made.ports]).toEqual([null, null]);
      expect(
        (await api.create('Endpoints', { metadata: meta('empty'), subsets: [] })).subsets,
      ).toBeUndefined();
    });

    it('deletes only what meets the preconditions', async () => {
      const made = await api.create('EndpointSlice', slice(meta('doomed'), '10.1.0.1'));
      const { uid, resourceVersion } = (
        await api.patch('EndpointSlice', namespace, 'doomed', { metadata: { annotations: { a: 'b' } } })
      ).metadata;
      const stale = await failure(
        api.delete('EndpointSlice', namespace, 'doomed', {
          resourceVersion: made.metadata.resourceVersion as string,
        }),
      );
      const other = await failure(api.delete('EndpointSlice', namespace, 'doomed', { uid: 'other' }));
      expect([isConflict(stale), isConflict(other)]).toEqual([true, true]);
      expect(
        await api.delete('EndpointSlice', namespace, 'doomed', {
          uid: uid as string,
          resourceVersion: resourceVersion as string,
        }),
      ).toBe(true);
      expect(await api.get('EndpointSlice', namespace, 'doomed')).toBeUndefined();
    });

    it('a finalizer holds a deleted object until it is taken off', async () => {
      const made = await api.create(
        'EndpointSlice',
        slice(meta('held', { finalizers: ['example.com/hold'] })),
      );
      await api.delete('EndpointSlice', namespace, 'held');
      const held = await api.get('EndpointSlice', namespace, 'held');
      expect(held?.metadata.deletionTimestamp).toEqual(expect.any(String));
      expect(held?.metadata.generation).toBe((made.metadata.generation as number) + 1);
      await api.patch('EndpointSlice', namespace, 'held', { metadata: { finalizers: null } });
      expect(await api.get('EndpointSlice', namespace, 'held')).toBeUndefined();
    });

    it('list returns objects by label and namespace, from all pages or up to a limit', async () => {
      const names = Array.from({ length: 7 }, (_, i) => `listed-${i}`);
      for (const [i, name] of names.entries())
        await api.create(
          'EndpointSlice',
          slice(meta(name, { labels: { listed: namespace, odd: String(i % 2) } })),
        );
      const list = async (labels: Record<string, string>, atMost?: number) =>
        (await api.list('EndpointSlice', namespace, { labels, ...(atMost && { atMost }) })).items.map(
          (o) => o.metadata.name,
        );
      expect(await list({ listed: namespace })).toEqual(names);
      expect(await list({ listed: namespace, odd: '1' })).toEqual(names.filter((_, i) => i % 2));
      expect(await list({ listed: namespace }, 2)).toEqual(names.slice(0, 2));
      const [first] = (await api.list('EndpointSlice', namespace, { labels: { listed: namespace } })).items;
      expect(first).toMatchObject({ kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1' });
      const uids = await api.list('EndpointSlice', namespace, {
        labels: { listed: namespace },
        keep: (slice) => slice.metadata.uid,
      });
      expect(uids.items[0]).toBe(first?.metadata.uid);
      expect(uids.items).toHaveLength(names.length);
      const everywhere = await api.list('EndpointSlice', '', { labels: { listed: namespace } });
      expect(everywhere.items).toHaveLength(7);
      expect(everywhere.resourceVersion).toMatch(/^\d+$/);
    });

    it('a service gets its defaults, and an empty selector is none (API-1)', async () => {
      const plain = await api.create('Service', {
        metadata: meta('plain'),
        spec: { selector: { a: 'b' }, ports: [{ port: 80 }] },
      });
      expect(plain.spec).toMatchObject({
        type: 'ClusterIP',
        ipFamilyPolicy: 'SingleStack',
        ipFamilies: ['IPv4'],
        sessionAffinity: 'None',
      });
      expect(plain.spec?.ports).toEqual([{ port: 80, protocol: 'TCP', targetPort: 80 }]);
      expect(plain.spec?.clusterIPs).toEqual([plain.spec?.clusterIP]);
      const headless = await api.create('Service', {
        metadata: meta('headless'),
        spec: { clusterIP: 'None', selector: {} },
      });
      expect(headless.spec).toMatchObject({
        clusterIPs: ['None'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      });
      expect(headless.spec?.selector).toBeUndefined();
      const both = await api.create('Service', {
        metadata: meta('both'),
        spec: { ipFamilyPolicy: 'PreferDualStack', ports: [{ port: 80 }] },
      });
      expect(both.spec?.ipFamilies).toEqual(['IPv4', 'IPv6']);
      expect(both.spec?.clusterIPs).toHaveLength(2);
      const name = await api.create('Service', {
        metadata: meta('name'),
        spec: { type: 'ExternalName', externalName: 'example.com' },
      });
      expect([name.spec?.clusterIP, name.spec?.ipFamilies]).toEqual([undefined, undefined]);
    });

    it('a PUT of a service may leave out allocated fields', async () => {
      const made = await api.create('Service', { metadata: meta('kept'), spec: { ports: [{ port: 80 }] } });
      const put = await api.replace('Service', {
        metadata: meta('kept'),
        spec: { selector: { c: 'd' }, ports: [{ port: 81 }] },
      });
      expect(put.spec?.clusterIP).toBe(made.spec?.clusterIP);
      expect(put.spec?.ports).toEqual([{ port: 81, protocol: 'TCP', targetPort: 81 }]);
    });

    it.each<[string, ApiKind, object]>([
      ['Endpoints with an empty subset', 'Endpoints', { subsets: [{ ports: [{ port: 80 }] }] }],
      [
        'Endpoints with an empty node name',
        'Endpoints',
        { subsets: [{ addresses: [{ ip: '10.0.0.1', nodeName: '' }] }] },
      ],
      ['Endpoints with a loopback address', 'Endpoints', { subsets: [{ addresses: [{ ip: '127.0.0.1' }] }] }],
      [
        'Endpoints with two unnamed ports',
        'Endpoints',
        { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }, { port: 2 }] }] },
      ],
      [
        'Endpoints with port 0',
        'Endpoints',
        { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 0 }] }] },
      ],
      [
        'a slice with the other family',
        'EndpointSlice',
        { addressType: 'IPv4', endpoints: [{ addresses: ['fd00::1'] }] },
      ],
      [
        'a slice with an endpoint without address',
        'EndpointSlice',
        { addressType: 'IPv4', endpoints: [{ addresses: [] }] },
      ],
      [
        'a slice with a port name twice',
        'EndpointSlice',
        { addressType: 'IPv4', endpoints: [], ports: [{ name: 'a' }, { name: 'a' }] },
      ],
      ['a slice without address type', 'EndpointSlice', { endpoints: [] }],
      ['a service without ports', 'Service', { spec: {} }],
    ])('refuses %s (API-7)', async (_, kind, content) => {
      expect(await failure(api.create(kind, { metadata: meta('wrong'), ...content }))).toMatchObject({
        status: 422,
        reason: 'Invalid',
      });
    });

    it('refuses another address type on a slice, and resourceVersion on a new object', async () => {
      await api.create('EndpointSlice', slice(meta('typed')));
      const typed = { metadata: meta('typed'), addressType: 'IPv6', endpoints: [] };
      expect(await failure(api.replace('EndpointSlice', typed))).toMatchObject({ status: 422 });
      expect(
        await failure(api.create('Endpoints', { metadata: meta('versioned', { resourceVersion: '5' }) })),
      ).toMatchObject({ status: 500 });
    });

    it('creates nothing in a namespace that is missing or terminating (API-4)', async () => {
      const nowhere = await failure(
        api.create('Endpoints', { metadata: { namespace: 'nowhere', name: 'x' } }),
      );
      expect(isNotFound(nowhere)).toBe(true);
      await cluster.createNamespace(`${namespace}-gone`);
      await cluster.terminateNamespace(`${namespace}-gone`);
      const refused = await failure(
        api.create('Endpoints', { metadata: { namespace: `${namespace}-gone`, name: 'x' } }),
      );
      expect(refused).toMatchObject({ status: 403, reason: 'Forbidden' });
      expect(hasCause(refused, 'NamespaceTerminating')).toBe(true);
    });

    it('a pod on no node is deleted at once, one on a node has its grace period', async () => {
      const pod = (name: string, nodeName?: string): Creatable<'Pod'> => ({
        metadata: meta(name),
        spec: {
          containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }],
          ...(nodeName && { nodeName }),
        },
      });
      const made = await api.create('Pod', pod('loose'));
      expect(made.status?.phase).toBe('Pending');
      expect(made.spec?.containers[0]?.ports?.[0]?.protocol).toBe('TCP');
      expect(await api.delete('Pod', namespace, 'loose')).toBe(true);
      expect(await api.get('Pod', namespace, 'loose')).toBeUndefined();
      await api.create('Pod', pod('placed', 'node-x'));
      expect(await api.delete('Pod', namespace, 'placed')).toBe(true);
      expect((await api.get('Pod', namespace, 'placed'))?.metadata).toMatchObject({
        deletionGracePeriodSeconds: 30,
        generation: 2,
      });
    });

    it('events are created and counted up by a patch', async () => {
      const event: Creatable<'Event'> = {
        metadata: meta('happened'),
        involvedObject: { kind: 'Service', namespace, name: 'plain' },
        reason: 'Tested',
        message: 'm',
        type: 'Normal',
        count: 1,
      };
      await api.create('Event', event);
      expect((await api.patch('Event', namespace, 'happened', { count: 2 })).count).toBe(2);
    });

    it('a dry run stores nothing', async () => {
      await api.dryRunCreate('EndpointSlice', slice({ name: 'dry' }, '10.1.0.1'));
      expect(await api.get('EndpointSlice', namespace, 'dry')).toBeUndefined();
    });

    it('a dry run of a create under a name that is in use ends as AlreadyExists', async () => {
      const derived = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: meta('in-use'),
        spec: { ports: [{ port: 80, protocol: 'TCP' }] },
      };
      await api.create('Service', derived);
      await expect(api.dryRunCreate('Service', derived)).rejects.toSatisfy(isAlreadyExists);
    });

    it('the cluster is known by the uid of kube-system', async () => {
      expect(await api.identity()).toMatch(/^[0-9a-f-]{36}$/);
      expect(
        await api.allows({ verb: 'update', group: 'discovery.k8s.io', resource: 'endpointslices' }),
      ).toBe(true);
    });
  });
}
