/**
 * While an answer is followed: how late the endpoints of its Service are, from the event of a pod to the event
 * of a slice that shows the change, by the clock of this machine, whoever writes the slice.
 */
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
import type { KubeObject, WatchSource } from '#functions/relay/source/watch-source.ts';
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
  const kinds = {
    Pod: {
      listed: (pod: Pod) =>
        void pods.set(podHash(pod.metadata.uid ?? ''), { name: pod.metadata.name, state: podState(pod) }),
      seen(pod: Pod, isDeleted: boolean): void {
        const { name, uid = '' } = pod.metadata;
        const state = isDeleted ? goneState : podState(pod);
        const change = changeOfPod(pods.get(podHash(uid))?.state ?? unknownState, state);
        pods.set(podHash(uid), { name, state });
        if (change) delays.podChanged(uid, change);
      },
    },
    EndpointSlice: {
      listed: (slice: EndpointSlice) => delays.sliceListed(slice.metadata.name, slice),
      seen: (slice: EndpointSlice, isDeleted: boolean) =>
        void delays.sliceChanged(slice.metadata.name, slice, isDeleted),
    },
  };
  async function read<O extends KubeObject>(
    kind: keyof typeof kinds,
    { listed, seen }: { listed: (object: O) => void; seen: (object: O, isDeleted: boolean) => void },
  ): Promise<void> {
    delays.reset(kind);
    let page = await source.list(kind, { limit: pageSize }, signal);
    for (;;) {
      for (const object of page.items) listed(object as O);
      if (page.continue === undefined) break;
      page = await source.list(kind, { limit: pageSize, continue: page.continue }, signal);
    }
    for await (const event of source.watch(kind, page.resourceVersion, signal))
      if (event.type !== 'BOOKMARK') seen(event.object as O, event.type === 'DELETED');
  }
  const goOn = async (run: () => Promise<void>): Promise<void> => {
    for (;;) {
      await run().catch((error: unknown) => {
        if (signal.aborted || isRefused(error)) throw error;
      });
      await sleep(clock, retryMs, signal);
    }
  };
  await Promise.all([
    goOn(() => read<Pod>('Pod', kinds.Pod)),
    goOn(() => read<EndpointSlice>('EndpointSlice', kinds.EndpointSlice)),
  ]).catch((error: unknown) => {
    if (!signal.aborted) tell(`delays are not measured: ${(error as Error).message}`);
  });
}

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

const textOf = (
  pod: string,
  {
    change,
    ms,
    writer,
  }: { readonly change: EndpointChange; readonly ms: number; readonly writer: SliceWriter },
): string => `${pod} ${changes[change]}: its slice by ${writers[writer]} showed that after ${ms} ms`;
