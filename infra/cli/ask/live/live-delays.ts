/**
 * While an answer is followed: how late the endpoints of its Service are, from the event of a pod to the event
 * of a slice that shows the change, by the clock of this machine, whoever writes the slice.
 */
import type { EndpointDelay } from '#functions/relay/delay/delay-report.ts';
import { EndpointDelays } from '#functions/relay/delay/endpoint-delays.ts';
import { podHash } from '#functions/relay/delay/listed-states.ts';
import {
  changeOfPod,
  goneState,
  type PodState,
  podState,
  unknownState,
} from '#functions/relay/delay/pod-state.ts';
import { type Clock, sleep } from '#functions/relay/runtime/clock.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { isRefused } from '#functions/relay/runtime/relay-errors.ts';
import type { WatchSource } from '#functions/relay/source/watch-source.ts';
import type { EndpointChange, SliceWriter } from '#shared/contract/endpoint-delay.ts';
import type { EndpointSlice, Pod } from '#shared/kube/types.ts';

/** The Service's namespace is the source's. */
export interface Followed {
  readonly source: Pick<WatchSource, 'list' | 'watch'>;
  readonly name: string;
  readonly clock: Clock;
  readonly tell: (text: string) => void;
}

const retryMs = 2_000;
const pageSize = 500;

/** Goes on until the signal is aborted, and ends if the kinds may not be watched: the answer goes on. */
export async function followDelays(
  { source, name, clock, tell }: Followed,
  signal: AbortSignal,
): Promise<void> {
  const pods = new Map<number, { readonly name: string; readonly state: PodState }>();
  const delays = new EndpointDelays({ clock, meter: new Meter() }, undefined, (delay, pod) => {
    if (delay.service === name) tell(textOf(pods.get(pod)?.name ?? 'a pod', delay));
  });
  const takes = {
    Pod(pod: Pod, how: Seen): void {
      const { name, uid = '' } = pod.metadata;
      const before = pods.get(podHash(uid))?.state ?? unknownState;
      const state = how === 'DELETED' ? goneState : podState(pod);
      pods.set(podHash(uid), { name, state });
      const change = how === 'listed' ? undefined : changeOfPod(before, state);
      if (change) delays.podChanged(uid, change);
    },
    EndpointSlice(slice: EndpointSlice, how: Seen): void {
      if (how === 'listed') delays.sliceListed(slice.metadata.name, slice);
      else delays.sliceChanged(slice.metadata.name, slice, how === 'DELETED');
    },
  };
  async function read<O>(kind: keyof typeof takes, take: Take<O>): Promise<void> {
    delays.reset(kind);
    let page = await source.list(kind, { limit: pageSize }, signal);
    for (;;) {
      for (const object of page.items) take(object as O, 'listed');
      if (page.continue === undefined) break;
      page = await source.list(kind, { limit: pageSize, continue: page.continue }, signal);
    }
    for await (const event of source.watch(kind, page.resourceVersion, signal))
      if (event.type !== 'BOOKMARK') take(event.object as O, event.type);
  }
  async function goOn<O>(kind: keyof typeof takes, take: Take<O>): Promise<void> {
    for (;;) {
      await read(kind, take).catch((error: unknown) => {
        if (signal.aborted || isRefused(error)) throw error;
      });
      await sleep(clock, retryMs, signal);
    }
  }
  const both = Promise.all([goOn('Pod', takes.Pod), goOn('EndpointSlice', takes.EndpointSlice)]);
  await both.catch((error: unknown) => {
    if (!signal.aborted) tell(`delays are not measured: ${(error as Error).message}`);
  });
}

/** In a list, or by an event of a watch. */
type Seen = 'listed' | 'ADDED' | 'MODIFIED' | 'DELETED';
type Take<O> = (object: O, how: Seen) => void;

const changes: { readonly [C in EndpointChange]: string } = {
  ready: 'became ready',
  not_ready: 'became not ready',
  deleted: 'is being deleted',
};
const writers: { readonly [W in SliceWriter]: string } = {
  hub: 'the hub',
  built_in: 'the built-in controllers',
  other: 'another writer',
};

const textOf = (pod: string, { change, ms, writer }: EndpointDelay): string =>
  `${pod} ${changes[change]}: its slice by ${writers[writer]} showed that after ${ms} ms`;
