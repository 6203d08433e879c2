/** Kubernetes Events without a process that correlates them (Q-22..30; reference/parity.md D24 and D26). */
import { describe, expect, it } from 'vitest';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import type { EventSketch } from '#shared/kube/types.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { memoryClusterApi } from '#test/support/memory/cluster-memory.ts';

const sketch = (message: string, name = 'svc'): EventSketch => ({
  type: 'Warning',
  reason: 'FailedToUpdateEndpointSlices',
  message,
  regarding: { kind: 'Service', apiVersion: 'v1', namespace: 'default', name, uid: `uid-${name}` },
  component: 'endpoint-slice-controller',
});
const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };

function recording() {
  let [now, made] = [Date.parse('2026-01-01T00:00:00Z'), 0];
  const store = new Store({ now: () => now, uid: () => `u-${++made}`, suffix: () => String(++made) });
  const api = memoryClusterApi(store, { fieldManager: 'fleet-endpoints' });
  const worker = () => {
    const recorder = eventRecorder({ now: () => now, log: silent });
    return (event: EventSketch) => recorder.record(api, event);
  };
  const events = () =>
    store.list('Event') as unknown as readonly {
      count: number;
      message: string;
      involvedObject: object;
      source: object;
    }[];
  return { worker, events, pass: (seconds: number) => (now += seconds * 1000) };
}

describe('events', () => {
  it('equal events are one event with a count, even from different workers', async () => {
    const { worker, events } = recording();
    for (const record of [worker(), worker(), worker()]) await record(sketch('no'));
    await worker()(sketch('no, for another reason'));
    expect(events().map(({ count, message }) => [message, count])).toEqual(
      expect.arrayContaining([
        ['no', 3],
        ['no, for another reason', 1],
      ]),
    );
    expect(events()[0]).toMatchObject({
      involvedObject: { kind: 'Service', name: 'svc' },
      source: { component: 'endpoint-slice-controller' },
    });
  });

  it('come 25 in a burst for an object, then one each 300 s [Q-29]', async () => {
    const { worker, events, pass } = recording();
    const record = worker();
    for (let i = 0; i < 40; i++) await record(sketch(`failure ${i}`));
    expect(events()).toHaveLength(25);
    await record(sketch('of another object', 'other'));
    expect(events()).toHaveLength(26);
    pass(300);
    for (let i = 0; i < 3; i++) await record(sketch(`later ${i}`));
    expect(events()).toHaveLength(27);
  });

  it('events that the API server refuses fail no run', async () => {
    const { worker, events } = recording();
    await worker()({ ...sketch('no'), regarding: { kind: 'Service', namespace: 'not-there', name: 'svc' } });
    expect(events()).toEqual([]);
  });
});
