import { expect, it } from 'vitest';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { CoreEvent, EventSketch } from '#shared/kube/types.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';

const sketch = (message: string, name = 'svc'): EventSketch => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpoint',
  message,
  regarding: { kind: 'Service', namespace: 'default', name, uid: `uid-${name}`, apiVersion: 'v1' },
  component: 'endpoint-controller',
});

function cluster() {
  const warned: string[] = [];
  const log: Log = { info() {}, warn: (m) => void warned.push(m), error() {}, with: () => log };
  const clock = { now: Date.parse('2026-01-01T00:00:00Z') };
  let ids = 0;
  const store = new Store({ now: () => clock.now, uid: () => `u${++ids}`, suffix: () => `s${++ids}` });
  const api = memoryClusterApi(store, { fieldManager: 'test' });
  const events = () => store.list('Event') as readonly unknown[] as readonly CoreEvent[];
  const newRecorder = () => eventRecorder({ now: () => clock.now, log });
  return { clock, api, events, warned, newRecorder, recorder: newRecorder() };
}

it('the same event again raises a count, whichever worker records it', async () => {
  const { clock, api, events, recorder, newRecorder } = cluster();
  await recorder.record(api, sketch('no'));
  clock.now += 60_000;
  await newRecorder().record(api, sketch('no'));
  expect(events()).toHaveLength(1);
  expect(events()[0]).toMatchObject({
    count: 2,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:01:00Z',
  });
});

it('one object gets 25 events at once, then one each five minutes; others have a budget of their own', async () => {
  const { clock, api, events, recorder } = cluster();
  for (let i = 0; i < 40; i++) await recorder.record(api, sketch(`no ${i}`));
  expect(events()).toHaveLength(25);
  await recorder.record(api, sketch('no', 'other'));
  expect(events()).toHaveLength(26);
  clock.now += 299_000;
  await recorder.record(api, sketch('too soon'));
  expect(events()).toHaveLength(26);
  clock.now += 1_000;
  await recorder.record(api, sketch('again'));
  await recorder.record(api, sketch('and again'));
  expect(events()).toHaveLength(27);
});

it('a message is cut to the API server’s maximum', async () => {
  const { api, events, recorder } = cluster();
  await recorder.record(api, sketch('x'.repeat(5000)));
  expect(events()[0]?.message).toHaveLength(1024);
});

it('recording never fails a run', async () => {
  const { api, recorder, warned } = cluster();
  const refusing = {
    ...api,
    create: () => Promise.reject(new ClusterApiError('forbidden', { status: 403 })),
  } as ClusterApi;
  await recorder.record(refusing, sketch('no'));
  expect(warned).toEqual(['event not recorded']);
});
