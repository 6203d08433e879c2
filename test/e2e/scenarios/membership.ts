import { expect } from 'vitest';
import { outlineOfEndpoints, outlineOfSlices } from '../outline.ts';
import { httpPort, type Scenario, type World } from '../world.ts';

const ports = ['http:8080/TCP'];
const web = { selector: { app: 'web' }, ports: [httpPort] };
const labels = { app: 'web' };

/** One subset and one slice with exactly these pods; a pod that is not ready maps to false. */
async function expectPods(
  w: World,
  service: string,
  pods: { readonly [name: string]: boolean },
): Promise<void> {
  const named = (wanted: boolean): readonly string[] =>
    Object.keys(pods).filter((name) => pods[name] === wanted);
  await w.eventually(() => {
    expect(outlineOfEndpoints(w.endpoints(service))).toEqual([
      { ready: named(true).toSorted(), notReady: named(false).toSorted(), ports },
    ]);
    const endpoints = Object.fromEntries(
      Object.entries(pods).map(([name, ready]) => [name, ready ? 'ready serving' : '']),
    );
    expect(outlineOfSlices(w.slices(service))).toEqual([{ addressType: 'IPv4', ports, endpoints }]);
  });
}

async function expectNone(w: World, service: string): Promise<void> {
  await w.eventually(() => {
    expect(outlineOfEndpoints(w.endpoints(service))).toEqual([]);
    expect(outlineOfSlices(w.slices(service))).toEqual([{ addressType: 'IPv4', ports: [], endpoints: {} }]);
  });
}

export function membership(scenario: Scenario): void {
  scenario('the addresses of a service are the pods that its whole selector matches', async (w) => {
    await w.pod('before', { labels: { app: 'web', tier: 'front', extra: 'x' } });
    await w.pod('half', { labels: { app: 'web' } });
    await w.service('web', { selector: { app: 'web', tier: 'front' }, ports: [httpPort] });
    await w.pod('after', { labels: { app: 'web', tier: 'front' } });
    await w.pod('other', { labels: { app: 'other', tier: 'front' } });
    await expectPods(w, 'web', { before: true, after: true });
  });

  scenario('a pod moves between ready and not ready addresses', async (w) => {
    await w.service('web', web);
    await w.pod('a', { labels });
    await w.pod('b', { labels, ready: false });
    await expectPods(w, 'web', { a: true, b: false });
    await w.podStatus('a', { ready: false });
    await w.podStatus('b', { ready: true });
    await expectPods(w, 'web', { a: false, b: true });
    await w.podStatus('a', { ready: true });
    await expectPods(w, 'web', { a: true, b: true });
  });

  scenario(
    'a pod without an address is left out until it has one, and a finished or deleted pod is removed',
    async (w) => {
      await w.service('web', web);
      await w.pod('steady', { labels });
      await w.pod('a', { labels, ips: [], ready: false, phase: 'Pending' });
      await expectPods(w, 'web', { steady: true });
      await w.podStatus('a', { ips: ['10.2.0.1'] });
      await expectPods(w, 'web', { steady: true, a: true });
      await w.podStatus('a', { ips: ['10.2.0.1'], phase: 'Succeeded', ready: false });
      await expectPods(w, 'web', { steady: true });
      await w.pod('b', { labels });
      await expectPods(w, 'web', { steady: true, b: true });
      await w.removePod('b');
      await expectPods(w, 'web', { steady: true });
    },
  );

  scenario('a pod whose address changes is listed with the new one', async (w) => {
    await w.service('web', web);
    await w.pod('a', { labels, ips: ['10.2.0.1'] });
    await expectPods(w, 'web', { a: true });
    await w.podStatus('a', { ips: ['10.2.0.2'] });
    await w.eventually(() => {
      expect(w.endpoints('web')?.subsets?.flatMap((s) => s.addresses?.map((a) => a.ip))).toEqual([
        '10.2.0.2',
      ]);
      expect(w.slices('web').flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))).toEqual([
        '10.2.0.2',
      ]);
    });
  });

  scenario('a changed selector changes the pods', async (w) => {
    await w.service('web', { selector: { version: '1' }, ports: [httpPort] });
    await w.pod('one', { labels: { version: '1' } });
    await w.pod('two', { labels: { version: '2' } });
    await expectPods(w, 'web', { one: true });
    await w.api.patch('Service', w.namespace, 'web', { spec: { selector: { version: '2' } } });
    await expectPods(w, 'web', { two: true });
  });

  scenario(
    'a pod relabelled from one service to another leaves the first and joins the second',
    async (w) => {
      await w.service('first', { selector: { app: 'first' }, ports: [httpPort] });
      await w.service('second', { selector: { app: 'second' }, ports: [httpPort] });
      await w.pod('mover', { labels: { app: 'first' } });
      await w.pod('stays', { labels: { app: 'first' } });
      await expectPods(w, 'first', { mover: true, stays: true });
      await expectNone(w, 'second');
      await w.api.patch('Pod', w.namespace, 'mover', { metadata: { labels: { app: 'second' } } });
      await expectPods(w, 'first', { stays: true });
      await expectPods(w, 'second', { mover: true });
    },
  );

  scenario(
    'scaled to zero a service keeps empty Endpoints and the same slice, emptied, which is filled again',
    async (w) => {
      await w.service('web', web);
      await w.pod('a', { labels });
      await expectPods(w, 'web', { a: true });
      const uid = w.slices('web')[0]?.metadata.uid;
      await w.removePod('a');
      await expectNone(w, 'web');
      expect(w.slices('web')[0]?.metadata.uid).toBe(uid);
      await w.pod('b', { labels });
      await expectPods(w, 'web', { b: true });
      expect(w.slices('web')[0]?.metadata.uid).toBe(uid);
    },
  );

  scenario('a rolling update ends with the new pods only', async (w) => {
    await w.service('web', web);
    await w.pods('old', 5, { labels });
    await expectPods(w, 'web', { 'old-0': true, 'old-1': true, 'old-2': true, 'old-3': true, 'old-4': true });
    for (let i = 0; i < 5; i++) {
      await w.pod(`new-${i}`, { labels, ready: false });
      await w.podStatus(`new-${i}`, { ready: true });
      await w.terminatePod(`old-${i}`);
      await w.podStatus(`old-${i}`, { ready: false });
      await w.removePod(`old-${i}`);
    }
    await expectPods(w, 'web', { 'new-0': true, 'new-1': true, 'new-2': true, 'new-3': true, 'new-4': true });
  });

  scenario('TestEndpointWithMultiplePodUpdates: pods that flap quickly all end ready', async (w) => {
    const names = Array.from({ length: 10 }, (_, i) => `web-${i}`);
    await Promise.all(names.map((app) => w.service(app, { selector: { app }, ports: [httpPort] })));
    await Promise.all(names.map((app) => w.pod(`pod-of-${app}`, { labels: { app } })));
    await Promise.all(names.map((app) => expectPods(w, app, { [`pod-of-${app}`]: true })));
    await Promise.all(
      names.map(async (app) => {
        await w.podStatus(`pod-of-${app}`, { ready: false });
        await w.podStatus(`pod-of-${app}`, { ready: true });
      }),
    );
    await w.settled();
    await Promise.all(names.map((app) => expectPods(w, app, { [`pod-of-${app}`]: true })));
  });
}
