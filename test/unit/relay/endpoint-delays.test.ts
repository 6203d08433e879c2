/** How late endpoints are, as the relay sees it: what is a sample, of whom, and what is not. */
import { describe, expect, it } from 'vitest';
import { EndpointDelays } from '#functions/relay/delay/endpoint-delays.ts';
import { packedStates } from '#functions/relay/delay/listed-states.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import type { KubeObject } from '#functions/relay/source/watch-source.ts';
import { delayBoundsMs } from '#shared/contract/endpoint-delay.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { EndpointSlice, Kind } from '#shared/kube/types.ts';
import { silent } from '#test/unit/ingest/hub.ts';

interface PodGiven {
  readonly ready?: boolean;
  readonly deleting?: boolean;
  readonly phase?: string;
}
const pod = (name: string, { ready = false, deleting = false, phase = 'Running' }: PodGiven = {}) => ({
  metadata: {
    ...{ name, namespace: 'shop', uid: `uid-${name}`, labels: { app: 'web' } },
    ...(deleting && { deletionTimestamp: '2026-01-01T00:00:30Z' }),
  },
  status: {
    ...{ phase, podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});

interface SliceGiven {
  readonly name?: string;
  readonly service?: string;
  readonly family?: string;
  readonly manager?: string;
}
type Conditions = { readonly ready?: boolean; readonly terminating?: boolean };
const slice = (
  endpoints: { readonly [pod: string]: Conditions },
  { name = 'web-1', service = 'web', family = 'IPv4', manager = 'kube-controller-manager' }: SliceGiven = {},
) => ({
  metadata: {
    ...{ name, namespace: 'shop', uid: name, labels: { [labelServiceName]: service } },
    managedFields: [{ manager, time: '2026-01-01T00:00:00Z' }],
  },
  addressType: family,
  endpoints: Object.entries(endpoints).map(([of, conditions]) => ({
    addresses: ['10.0.0.1'],
    conditions,
    targetRef: { kind: 'Pod', namespace: 'shop', name: of, uid: `uid-${of}` },
  })),
});

function relay() {
  const clock = { nowMs: 5_000 };
  const meter = new Meter();
  const index = new SentIndex({
    clock: { now: () => 0, monotonic: () => clock.nowMs, after: () => () => {}, random: () => 0 },
    log: silent,
    meter,
    outputs: 'metadata',
    limits: defaultLimits,
  });
  let version = 0;
  const see =
    (kind: Kind) =>
    (object: object, type: 'ADDED' | 'MODIFIED' | 'DELETED' = 'MODIFIED'): void =>
      void index.onEvent(kind, { type, object: object as KubeObject }, String(++version));
  return {
    index,
    meter,
    pod: see('Pod'),
    slice: see('EndpointSlice'),
    list: (kind: Kind, ...objects: readonly object[]): void => {
      index.reset(kind);
      for (const object of objects) index.onListed(kind, object as KubeObject, String(++version), false);
    },
    wait: (ms: number): void => {
      clock.nowMs += ms;
    },
    samples: () =>
      (index.delays.report.take()?.counts ?? []).map(
        ({ writer, change, atMostMs, count }) => `${writer} ${change} ${atMostMs} ×${count}`,
      ),
  };
}

describe('a sample', () => {
  it('a sample is from the event of a pod to that of the slice, by kind of change', () => {
    const r = relay();
    r.list('Pod', pod('a'));
    r.list('EndpointSlice', slice({ a: { ready: false } }));
    r.pod(pod('a', { ready: true }));
    r.wait(180);
    r.slice(slice({ a: { ready: true } }));
    expect(r.samples()).toEqual(['built_in ready 200 ×1']);

    r.pod(pod('a'));
    r.wait(60);
    r.slice(slice({ a: { ready: false } }));
    expect(r.samples()).toEqual(['built_in not_ready 70 ×1']);

    r.pod(pod('a', { deleting: true }));
    r.wait(900);
    r.slice(slice({ a: { ready: false, terminating: true } }));
    r.pod(pod('a', { deleting: true }), 'DELETED');
    r.wait(50);
    r.slice(slice({}));
    expect(r.samples()).toEqual(['built_in deleted 1000 ×1']);
  });

  it('a sample has the writer of the slice', () => {
    const r = relay();
    const writers = ['fleet-endpoints-4f2a', 'k3s', 'linkerd'];
    for (const [i, manager] of writers.entries()) {
      r.pod(pod(`p${i}`, { ready: true }), 'ADDED');
      r.wait(10);
      r.slice(slice({ [`p${i}`]: {} }, { name: `s${i}`, service: `s${i}`, manager }), 'ADDED');
    }
    expect(r.samples()).toEqual(['hub ready 10 ×1', 'built_in ready 10 ×1', 'other ready 10 ×1']);
  });

  it('a sample is of each Service and family once, however often the pod moves between its slices', () => {
    const r = relay();
    r.pod(pod('a', { ready: true }), 'ADDED');
    r.wait(100);
    r.slice(slice({ a: {} }), 'ADDED');
    r.slice(slice({ a: {} }, { name: 'web-6', family: 'IPv6' }), 'ADDED');
    r.slice(slice({ a: {} }, { name: 'api-1', service: 'api' }), 'ADDED');
    r.wait(5_000);
    r.slice(slice({ a: {} }, { name: 'web-2' }), 'ADDED');
    r.slice(slice({}));
    expect(r.samples()).toEqual(['built_in ready 100 ×3']);
  });

  it('the sample of a pod that is deleted at once ends with the deletion of its slice', () => {
    const r = relay();
    r.list('Pod', pod('a', { ready: true }));
    r.list('EndpointSlice', slice({ a: { ready: true } }));
    r.pod(pod('a', { ready: true }), 'DELETED');
    r.wait(20);
    r.slice(slice({ a: { ready: true } }), 'DELETED');
    expect(r.samples()).toEqual(['built_in deleted 20 ×1']);
  });
});

describe('what is no sample', () => {
  it('what a list shows first is no sample', () => {
    const r = relay();
    r.list('Pod', pod('a', { ready: true }));
    r.slice(slice({ a: { ready: true } }), 'ADDED');
    r.pod(pod('b', { ready: true }), 'ADDED');
    r.list('EndpointSlice', slice({ b: { ready: true } }));
    expect(r.samples()).toEqual([]);
  });

  it('a change of a slice that was written for another reason is no sample', () => {
    const r = relay();
    r.list('Pod', pod('a'), pod('b', { ready: true }));
    r.list('EndpointSlice', slice({ a: { ready: true }, b: { ready: true } }));
    // The Service publishes addresses that are not ready: the slice says ready all the time.
    r.pod(pod('a', { ready: true }));
    r.slice(slice({ a: { ready: true }, b: { ready: false } }));
    expect(r.samples()).toEqual([]);
  });

  it.each<[string, Kind, (r: ReturnType<typeof relay>) => void]>([
    ['its pods', 'Pod', (r) => r.index.delays.interrupted('Pod')],
    ['its slices', 'EndpointSlice', (r) => r.index.delays.interrupted('EndpointSlice')],
    ['pods that it has to list again', 'Pod', (r) => r.list('Pod', pod('a', { ready: true }))],
  ])('a change beside which the relay did not read %s is no sample', (_, __, gap) => {
    const r = relay();
    r.pod(pod('a', { ready: true }), 'ADDED');
    gap(r);
    r.wait(60_000);
    r.slice(slice({ a: {} }), 'ADDED');
    expect(r.samples()).toEqual([]);
    r.pod(pod('a'));
    r.wait(10);
    r.slice(slice({ a: { ready: false } }));
    expect(r.samples()).toEqual(['built_in not_ready 10 ×1']);
  });

  it('a change that came back before a slice showed it, or that none showed in an hour, is no sample', () => {
    const r = relay();
    r.list('Pod', pod('a', { ready: true }), pod('b'));
    r.list('EndpointSlice', slice({ a: { ready: true } }));
    r.pod(pod('a'));
    r.pod(pod('a', { ready: true }));
    r.pod(pod('b', { ready: true }));
    r.wait((delayBoundsMs.at(-1) as number) + 1);
    r.slice(slice({ a: { ready: false }, b: { ready: true } }));
    expect(r.samples()).toEqual([]);
  });
});

it('the 99.9th percentile of removals is told once there are a thousand, and not of other changes', () => {
  const r = relay();
  r.list('Pod', ...Array.from({ length: 1_001 }, (_, i) => pod(`p${i}`)));
  const all = (of: number, conditions: Conditions): ReturnType<typeof slice> =>
    slice(Object.fromEntries(Array.from({ length: of }, (_, i) => [`p${i}`, conditions])));
  r.list('EndpointSlice', all(1_001, { ready: false }));
  const remove = (from: number, to: number, ms: number): void => {
    for (let i = from; i < to; i++) r.pod(pod(`p${i}`, { deleting: true }));
    r.wait(ms);
    const gone = Object.fromEntries(
      Array.from({ length: 1_001 }, (_, i) => [`p${i}`, { ready: false, terminating: i < to }]),
    );
    r.slice(slice(gone));
  };
  remove(0, 999, 60);
  expect(r.index.delays.report.removals).toBeUndefined();
  remove(999, 1_000, 900);
  expect(r.index.delays.report.removals).toEqual({ count: 1_000, withinMs: 70 });
  remove(1_000, 1_001, 900);
  expect(r.index.delays.report.removals).toEqual({ count: 1_001, withinMs: 1_000 });
  // A report that was taken, or given back, changes nothing of it.
  r.index.delays.report.giveBack(r.index.delays.report.take() as never);
  expect(r.index.delays.report.removals?.count).toBe(1_001);
});

it('memory is bounded: the oldest changes are forgotten, and slices beyond the limit are not measured', () => {
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {}, random: () => 0 };
  const delays = new EndpointDelays({ clock, meter: new Meter() }, { pods: 2, endpoints: 2 });
  const see = (of: ReturnType<typeof slice>): void => void delays.sliceChanged('web-1', of as never, false);
  const samples = (): number =>
    (delays.report.take()?.counts ?? []).reduce((sum, { count }) => sum + count, 0);
  for (const name of ['a', 'b', 'c']) delays.podChanged(`uid-${name}`, 'ready');
  see(slice({ a: {}, b: {}, c: {} }));
  expect(samples()).toBe(2);
  // The slice is too large to be kept, so nothing tells what changes in it.
  delays.podChanged('uid-b', 'not_ready');
  see(slice({ a: {}, b: { ready: false }, c: {} }));
  expect(samples()).toBe(0);
});

it('a heartbeat that the queue refuses gives its delays back, and names each slow Service once', () => {
  const r = relay();
  const wait = (name: string, service: string, ms: number): void => {
    r.pod(pod(name, { ready: true }), 'ADDED');
    r.wait(ms);
    r.slice(slice({ [name]: {} }, { name, service }), 'ADDED');
  };
  wait('a', 'web', 2_500);
  const { report } = r.index.delays;
  const refused = report.take();
  expect(report.take()).toBeUndefined();
  wait('b', 'web', 2_600);
  wait('c', 'api', 1_200);
  wait('d', 'fast', 999);
  if (refused) report.giveBack(refused);
  expect(report.take()).toEqual({
    counts: [
      { writer: 'built_in', change: 'ready', atMostMs: 3_000, count: 2 },
      { writer: 'built_in', change: 'ready', atMostMs: 1_500, count: 1 },
      { writer: 'built_in', change: 'ready', atMostMs: 1_000, count: 1 },
    ],
    slowest: [
      { namespace: 'shop', service: 'web', writer: 'built_in', change: 'ready', ms: 2_600 },
      { namespace: 'shop', service: 'api', writer: 'built_in', change: 'ready', ms: 1_200 },
    ],
  });
});

it('Prometheus gets a cumulative histogram by writer and change', () => {
  const r = relay();
  expect(r.meter.render(0, [])).not.toContain('relay_endpoint_delay_seconds');
  for (const [name, ms] of [
    ['a', 10],
    ['b', 40],
  ] as const) {
    r.pod(pod(name, { ready: true }), 'ADDED');
    r.wait(ms);
    r.slice(slice({ [name]: {} }, { name, service: name }), 'ADDED');
  }
  const of = 'writer="built_in",change="ready"';
  const lines = r.meter.render(0, []).split('\n');
  expect(lines.filter((line) => line.includes('relay_endpoint_delay_seconds'))).toEqual(
    expect.arrayContaining([
      '# TYPE relay_endpoint_delay_seconds histogram',
      `relay_endpoint_delay_seconds_bucket{${of},le="0.01"} 1`,
      `relay_endpoint_delay_seconds_bucket{${of},le="0.03"} 1`,
      `relay_endpoint_delay_seconds_bucket{${of},le="0.05"} 2`,
      `relay_endpoint_delay_seconds_bucket{${of},le="+Inf"} 2`,
      `relay_endpoint_delay_seconds_sum{${of}} 0.05`,
      `relay_endpoint_delay_seconds_count{${of}} 2`,
    ]),
  );
});

it('a whole slice has its writer, and how late it shows a change', () => {
  const clock = { nowMs: 0 };
  const index = new SentIndex({
    clock: { now: () => 0, monotonic: () => clock.nowMs, after: () => () => {}, random: () => 0 },
    ...{ log: silent, meter: new Meter(), outputs: 'full', limits: defaultLimits },
  });
  const see = (kind: Kind, object: object, version: string) =>
    index.onEvent(kind, { type: 'ADDED', object: object as KubeObject }, version);
  see('Pod', pod('a', { ready: true }), '1');
  clock.nowMs = 120;
  const shown = see('EndpointSlice', slice({ a: {} }), '2');
  expect(shown).toMatchObject({ manager: 'kube-controller-manager', lateMs: 120 });
  expect(see('EndpointSlice', slice({ a: {} }), '3')).not.toHaveProperty('lateMs');
});

it.each([
  [''],
  [{}],
  [[null]],
  [[{ targetRef: 'web', conditions: null }]],
  [[{ targetRef: { kind: 'Pod', uid: 1 } }]],
])('a slice whose endpoints are %j lists no pod, and stops no watch', (endpoints) => {
  expect(packedStates({ endpoints } as unknown as EndpointSlice)).toEqual([]);
});
