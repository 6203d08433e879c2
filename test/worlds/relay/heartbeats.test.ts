/** The relay sends its heartbeats in time. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { FaultyApi } from '#test/support/network/faulty-api.ts';
import { type RelayRun, runRelay } from './run-relay.ts';

let api: FaultyApi;
let run: RelayRun;

beforeEach(async () => {
  api = await new FaultyApi().start();
});
afterEach(async () => {
  await run.stop().catch(() => {});
  await api.close();
});

const until = (holds: () => unknown) =>
  vi.waitFor(() => expect(holds()).toBeTruthy(), { timeout: 120_000, interval: 5 });
/** Longer than a test, so arriving heartbeats have not waited for it. */
const limits = { heartbeatMs: 10_000_000 };

it('the second heartbeat comes sooner than the others: with it a cluster counts again as a source of imports', async () => {
  run = runRelay(api.url, { limits });
  await until(() => run.heartbeats().length === 2);
  expect(run.meter.value('relay_heartbeats_total')).toBe(2);
});

it('a heartbeat that the queue does not take is repeated soon, and a second one follows it soon', async () => {
  run = runRelay(api.url, { limits });
  run.refuseSends(true);
  await until(() => run.meter.value('relay_queue_errors_total') >= 2);
  expect(run.heartbeats()).toEqual([]);
  run.refuseSends(false);
  await until(() => run.heartbeats().length === 2);
});

it('a heartbeat has the numbers of Services that opt in, and of those with slices by opt-in, after the first lists of both', async () => {
  const service = (name: string, text: string, spec: object) =>
    ({
      kind: 'Service',
      metadata: { namespace: 'default', name, annotations: { [annotationSelector]: text } },
      spec,
    }) as const;
  const annotated = (name: string, text: string, spec = {}) => api.put(service(name, text, spec));
  annotated('valid', 'app=a');
  annotated('also-valid', 'app=b');
  annotated('invalid', 'a in (b');
  annotated('with-selector', 'app=c', { selector: { app: 'c' } });
  const slice = (name: string, of: string, manager: string = optInManagedBy) => {
    const labels = { [labelServiceName]: of, [labelSliceManagedBy]: manager };
    return {
      kind: 'EndpointSlice',
      metadata: { namespace: 'default', name, labels },
      addressType: 'IPv4',
    } as const;
  };
  for (const [name, of] of Object.entries({
    a: 'valid',
    b: 'valid',
    c: 'with-selector',
    d: 'without-annotation',
  }))
    api.put(slice(name, of));
  api.put(slice('e', 'built-in', slicesManagedBy));
  run = runRelay(api.url, { limits: { heartbeatMs: 10_000 } });
  const newest = () => run.heartbeats().at(-1)?.annotated;
  await until(() => newest()?.valid === 2);
  expect(newest()).toEqual({ valid: 2, invalid: 1, sliced: 3, stray: 2 });

  annotated('invalid', 'a=b');
  annotated('also-valid', 'app=b', { selector: { app: 'b' } });
  api.remove(service('valid', 'app=a', {}));
  api.remove(slice('c', 'with-selector'));
  api.put(slice('d', 'without-annotation', 'staff'));
  await until(() => newest()?.stray === 1);
  expect(newest()).toEqual({ valid: 1, invalid: 0, sliced: 1, stray: 1 });
});

it('while the Services are listed again, heartbeats have no such numbers: slices would look as if nobody followed them', async () => {
  const labels = { [labelServiceName]: 'svc', [labelSliceManagedBy]: optInManagedBy };
  api.put({
    kind: 'Service',
    metadata: { namespace: 'default', name: 'svc', annotations: { [annotationSelector]: 'app=a' } },
    spec: {},
  });
  api.put({
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: 'slice', labels },
    addressType: 'IPv4',
  });
  run = runRelay(api.url, { limits: { heartbeatMs: 10_000 } });
  await until(() => run.heartbeats().at(-1)?.annotated?.valid === 1);

  const held: (() => void)[] = [];
  api.next('list services', (_response, _request, usual) => void held.push(usual));
  api.compacted = ++api.version;
  api.hangUp('Service');
  await until(() => held.length === 1);
  const before = run.heartbeats().length;
  await until(() => run.heartbeats().length > before + 1);
  expect(run.heartbeats().at(-1)?.annotated).toBeUndefined();

  held[0]?.();
  await until(() => run.heartbeats().at(-1)?.annotated);
  const told = new Set(run.heartbeats().map(({ annotated }) => JSON.stringify(annotated)));
  expect(told).toEqual(new Set([undefined, JSON.stringify({ valid: 1, invalid: 0, sliced: 1, stray: 0 })]));
});

it('a heartbeat has the delays of endpoints that the queue has not taken yet', async () => {
  const pod = (ready: 'True' | 'False') =>
    ({
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'web-0', uid: 'uid-web-0', labels: { app: 'web' } },
      status: { podIP: '10.0.0.1', phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
    }) as const;
  const slice = (ready: boolean) => {
    const targetRef = { kind: 'Pod', name: 'web-0', uid: 'uid-web-0' };
    return {
      kind: 'EndpointSlice',
      metadata: { namespace: 'default', name: 'web-1', labels: { [labelServiceName]: 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready }, targetRef }],
    } as const;
  };
  api.put(pod('False'));
  api.put(slice(false));
  run = runRelay(api.url, { limits: { heartbeatMs: 10_000 } });
  await until(() => run.relay.isReady);
  api.put(pod('True'));
  await until(() => run.live('Pod').length === 1);
  run.refuseSends(true);
  api.put(slice(true));
  await until(() => run.meter.render(0, []).includes('relay_endpoint_delay_seconds_count'));
  await until(() => run.meter.value('relay_queue_errors_total') >= 2);
  run.refuseSends(false);
  const told = () => run.heartbeats().flatMap(({ endpointDelays }) => endpointDelays?.counts ?? []);
  await until(() => told().length > 0);
  expect(told()).toEqual([{ writer: 'other', change: 'ready', atMostMs: expect.any(Number), count: 1 }]);
});
