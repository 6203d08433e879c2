/** `explain -w` without a hub measures how late endpoints are. */
import { expect, it } from 'vitest';
import type { KubeObject, WatchEvent } from '#functions/relay/source/watch-source.ts';
import { followDelays } from '#infra/cli/ask/live/live-delays.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { Kind } from '#shared/kube/types.ts';

const pod = (ready: boolean, more: object = {}) => ({
  metadata: { name: 'web-0', namespace: 'shop', uid: 'u0', ...more },
  status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const slice = (ready: boolean, service = 'web') => ({
  metadata: {
    ...{ name: `${service}-1`, namespace: 'shop', labels: { [labelServiceName]: service } },
    managedFields: [{ manager: 'kube-controller-manager', time: '2026-01-01T00:00:00Z' }],
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready }, targetRef: { kind: 'Pod', uid: 'u0' } }],
});

function cluster(refused?: Kind) {
  const clock = { nowMs: 0 };
  const events = new Map<Kind, (event: WatchEvent) => void>();
  const told: string[] = [];
  const stop = new AbortController();
  const source = {
    async list(kind: Kind) {
      if (kind === refused) throw new ClusterApiError('pods is forbidden', { status: 403 });
      const items = kind === 'Pod' ? [pod(false)] : [slice(false), slice(false, 'other')];
      return { resourceVersion: '1', items: items as unknown as readonly KubeObject[] };
    },
    async *watch(kind: Kind): AsyncGenerator<WatchEvent> {
      while (!stop.signal.aborted)
        yield await new Promise<WatchEvent>((resolve) => {
          events.set(kind, resolve);
        });
    },
  };
  const ended = followDelays(
    {
      source,
      name: 'web',
      clock: { now: () => 0, monotonic: () => clock.nowMs, after: () => () => {}, random: () => 0 },
      tell: (text) => void told.push(text),
    },
    stop.signal,
  );
  const see = async (
    kind: Kind,
    object: object,
    type: 'MODIFIED' | 'DELETED' = 'MODIFIED',
  ): Promise<void> => {
    await new Promise(setImmediate);
    events.get(kind)?.({ type, object: object as KubeObject });
    await new Promise(setImmediate);
  };
  return { clock, told, see, ended };
}

it('each change of a pod is told once a slice of the Service shows it, with the time between', async () => {
  const { clock, told, see } = cluster();
  await see('Pod', pod(true));
  clock.nowMs += 180;
  await see('EndpointSlice', slice(true, 'other'));
  expect(told).toEqual([]);
  await see('EndpointSlice', slice(true));
  await see('Pod', pod(true, { deletionTimestamp: '2026-01-01T00:00:30Z' }));
  clock.nowMs += 40;
  await see('EndpointSlice', { ...slice(true), endpoints: [] });
  expect(told).toEqual([
    'web-0 became ready: its slice by the built-in controllers showed that after 180 ms',
    'web-0 is being deleted: its slice by the built-in controllers showed that after 40 ms',
  ]);
});

it('without the right to watch, that is told once, and the answer goes on', async () => {
  const { told, ended } = cluster('Pod');
  await ended;
  expect(told).toEqual(['delays are not measured: pods is forbidden']);
});
