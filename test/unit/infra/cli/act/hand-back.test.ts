/** Proves `hand-back`: what it plans, and that no address goes before the built-in controllers serve it. */
import { expect, it, vi } from 'vitest';
import { appliedBy, type HandBackDeps, handBack, planHandBack, planUndo } from '#infra/cli/act/hand-back.ts';
import { handBackServices } from '#infra/cli/act/hand-back-services.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import {
  annotationHandedBack,
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';

const at = new Date('2026-01-01T00:00:00Z');
const service = (spec: object, annotations: { readonly [key: string]: string } = {}): Service =>
  ({ metadata: { namespace: 'shop', name: 'web', uid: 'u', annotations }, spec }) as Service;
const optedIn = service({}, { [annotationSelector]: 'app=web,tier=front' });

it('a Service that opted in gets the selector of its annotation, and the time', () => {
  const { steps, refused } = planHandBack([optedIn, service({ selector: { app: 'a' } }), service({})], at);
  expect(refused).toEqual([]);
  expect(steps.map(({ patch, text }) => ({ patch, text }))).toEqual([
    {
      patch: {
        metadata: { annotations: { [annotationHandedBack]: '2026-01-01T00:00:00.000Z' } },
        spec: { selector: { app: 'web', tier: 'front' } },
      },
      text: 'gets the selector app=web,tier=front',
    },
  ]);
});

it('an invalid or set-based annotation is refused with its reason, and an ExternalName has nothing to hand back', () => {
  const { steps, refused } = planHandBack(
    [
      service({}, { [annotationSelector]: 'app in (a' }),
      service({}, { [annotationSelector]: 'app in (a,b)' }),
      service({ type: 'ExternalName' }, { [annotationSelector]: 'app=web' }),
    ],
    at,
  );
  expect(steps).toEqual([]);
  expect(refused).toEqual([
    {
      name: 'shop/web',
      reason: expect.stringMatching(/fleet-endpoints\/selector is invalid: unable to parse/),
    },
    {
      name: 'shop/web',
      reason: expect.stringMatching(/^app in \(a,b\): the annotation is set-based, and no spec.selector/),
    },
  ]);
});

it('undo takes back its own selector only', () => {
  const back = (selector: object, annotations: { readonly [key: string]: string }): Service =>
    service({ selector }, { [annotationHandedBack]: at.toISOString(), ...annotations });
  const { steps, refused } = planUndo([
    back({ app: 'web' }, { [annotationSelector]: 'app=web' }),
    back({ app: 'other' }, { [annotationSelector]: 'app=web' }),
    back({ app: 'web' }, {}),
    back({ app: 'web' }, { [annotationSelector]: 'app in (a' }),
    service({ selector: { app: 'web' } }, { [annotationSelector]: 'app=web' }),
  ]);
  expect(steps.map(({ patch }) => patch)).toEqual([
    { metadata: { annotations: { [annotationHandedBack]: null } }, spec: { selector: null } },
  ]);
  expect(refused.map(({ reason }) => reason)).toEqual([
    "its selector is app=other, and no longer the annotation's app=web",
    'the annotation fleet-endpoints/selector is gone: without its selector nobody would write the Service',
    expect.stringMatching(/^the annotation fleet-endpoints\/selector is invalid/),
  ]);
});

it.each([
  [{ annotations: { 'argocd.argoproj.io/tracking-id': 'shop:/Service:shop/web' } }, 'Argo CD (shop)'],
  [{ labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }, 'Flux (apps)'],
  [{ annotations: { 'meta.helm.sh/release-name': 'web' } }, 'Helm (release web)'],
  [{}, undefined],
])('%j is applied by %s', (metadata, owner) => {
  expect(appliedBy({ metadata: { name: 'web', ...metadata } } as Service)).toBe(owner);
});

/** A cluster whose hub is away; the built-in controllers answer when the test says so. */
function cluster() {
  let made = 0;
  const store = new Store({
    now: () => at.getTime(),
    uid: () => `u-${++made}`,
    suffix: () => String(++made),
  });
  const api = memoryClusterApi(store, { fieldManager: 'test' });
  store.create('Namespace', '', { metadata: { name: 'shop' } });
  const pod = (i: number) => {
    store.create('Pod', 'shop', {
      metadata: { name: `web-${i}`, labels: { app: 'web', tier: 'front' } },
      spec: { containers: [{ name: 'c', image: 'c' }] },
    });
    const status = { conditions: [{ type: 'Ready', status: 'True' }], podIP: `10.1.0.${i}` };
    return store.patch('Pod', { namespace: 'shop', name: `web-${i}` }, { status }, { subresource: 'status' });
  };
  const pods = [1, 2].map(pod);
  const slice = (name: string, manager: string, of: typeof pods) =>
    store.create('EndpointSlice', 'shop', {
      metadata: { name, labels: { [labelServiceName]: 'web', [labelSliceManagedBy]: manager } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      endpoints: of.map(({ metadata: { name, uid } }) => ({
        addresses: [`10.1.0.${name.slice(4)}`],
        conditions: { ready: true },
        targetRef: { kind: 'Pod', namespace: 'shop', name, uid },
      })),
    });
  store.create('Service', 'shop', {
    metadata: { name: 'web', annotations: { [annotationSelector]: 'app=web,tier=front' } },
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  });
  const [first, second] = pods as [(typeof pods)[0], (typeof pods)[0]];
  slice('ours', optInManagedBy, pods);
  let clock = at.getTime();
  const looks: (() => void)[] = [];
  const deps: HandBackDeps = {
    api,
    now: () => clock,
    waitMs: 60_000,
    pause: async (ms) => {
      clock += ms;
      looks.shift()?.();
    },
  };
  const names = (): readonly string[] =>
    store.list('EndpointSlice', 'shop').map(({ metadata }) => metadata.name);
  const live = async () => (await api.get('Service', 'shop', 'web')) as Service;
  const step = async () =>
    planHandBack([await live()], at).steps[0] as ReturnType<typeof planHandBack>['steps'][0];
  return { store, api, deps, looks, names, live, step, slice, pods, first, second };
}

it('slices of the hub stay until the built-in ones serve every ready address', async () => {
  const { deps, looks, names, live, step, slice, store, first, pods } = cluster();
  looks.push(
    () => slice('partly', slicesManagedBy, [first]),
    () => expect(names()).toEqual(['ours', 'partly']),
    () => {
      store.delete('EndpointSlice', 'shop', 'partly', {});
      slice('theirs', slicesManagedBy, pods);
    },
  );
  expect(await handBack(deps, await step())).toBeUndefined();
  expect(names()).toEqual(['theirs']);
  expect((await live()).spec?.selector).toEqual({ app: 'web', tier: 'front' });
  expect((await live()).metadata.annotations).toMatchObject({ [annotationSelector]: 'app=web,tier=front' });
});

it('an address whose pod went while the hub was away is not waited for', async () => {
  const { deps, looks, names, step, slice, store, first, second } = cluster();
  store.delete('Pod', 'shop', second.metadata.name, {});
  looks.push(() => slice('theirs', slicesManagedBy, [first]));
  expect(await handBack(deps, await step())).toBeUndefined();
  expect(names()).toEqual(['theirs']);
});

it('without the built-in controllers nothing is deleted, and the command says so', async () => {
  const { deps, names, step } = cluster();
  expect(await handBack(deps, await step())).toBe(
    'has its selector, but after 60 s the built-in controllers do not serve all of its 2 ready endpoints yet: the slices of the hub stay. Repeat the command to go on',
  );
  expect(names()).toEqual(['ours']);
});

it('a Service that has changed since it was read stays as it is', async () => {
  const { api, deps, names, live, step } = cluster();
  const read = await step();
  await api.patch('Service', 'shop', 'web', { metadata: { labels: { a: 'b' } } });
  await expect(handBack(deps, read)).rejects.toThrow(/conflict|modified|resourceVersion/i);
  expect((await live()).spec?.selector).toBeUndefined();
  expect(names()).toEqual(['ours']);
});

it('a dry run and a person who does not agree change nothing; undo gives the Service to the hub', async () => {
  const { deps, live, looks, slice, pods } = cluster();
  const choice = {
    context: 'prod',
    only: undefined,
    namespace: undefined,
    undo: false,
    dryRun: false,
    confirm: async () => {},
  };
  expect(await handBackServices(deps, { ...choice, dryRun: true })).toBe(true);
  await expect(
    handBackServices(deps, {
      ...choice,
      confirm: async (question) => {
        expect(question).toBe('Hand 1 Service back to the built-in controllers in prod?');
        throw new Error('no');
      },
    }),
  ).rejects.toThrow('no');
  expect((await live()).spec?.selector).toBeUndefined();
  looks.push(() => slice('theirs', slicesManagedBy, pods));
  expect(await handBackServices(deps, choice)).toBe(true);
  expect((await live()).spec?.selector).toEqual({ app: 'web', tier: 'front' });
  expect(await handBackServices(deps, { ...choice, undo: true })).toBe(true);
  expect((await live()).spec?.selector).toBeUndefined();
  expect((await live()).metadata.annotations).toEqual({ [annotationSelector]: 'app=web,tier=front' });
});

it('the command says that Argo CD would undo it before it writes anything', async () => {
  const { store, deps, live } = cluster();
  const annotations = { 'argocd.argoproj.io/tracking-id': 'shop:/Service:shop/web' };
  store.patch(
    'Service',
    { namespace: 'shop', name: 'web' },
    { metadata: { annotations } },
    { manager: 'argocd' },
  );
  const said = vi.spyOn(console, 'log').mockImplementation(() => {});
  const confirm = async (): Promise<void> => {
    expect(said.mock.calls.flat().join('\n')).toMatch(
      /shop\/web is applied by Argo CD \(shop\): pause its sync/,
    );
    expect((await live()).spec?.selector).toBeUndefined();
    throw new Error('asked');
  };
  await expect(
    handBackServices(deps, {
      ...{ context: 'prod', only: undefined, namespace: undefined },
      ...{ undo: false, dryRun: false, confirm },
    }),
  ).rejects.toThrow('asked');
  said.mockRestore();
});

it('repeated after the built-in controllers came late, the command goes on where it ended', async () => {
  const { deps, names, slice, pods } = cluster();
  const choice = {
    ...{ context: 'prod', only: undefined, namespace: undefined },
    ...{ undo: false, dryRun: false, confirm: async () => {} },
  };
  expect(await handBackServices(deps, choice)).toBe(false);
  expect(names()).toEqual(['ours']);
  slice('theirs', slicesManagedBy, pods);
  expect(await handBackServices(deps, choice)).toBe(true);
  expect(names()).toEqual(['theirs']);
  // Nothing is left to go on with.
  const asked: string[] = [];
  const confirm = async (question: string): Promise<void> => void asked.push(question);
  expect(await handBackServices(deps, { ...choice, confirm })).toBe(true);
  expect(asked).toEqual([]);
});
