import { delayBoundsMs, type EndpointChange, type SliceWriter } from '#shared/contract/endpoint-delay.ts';
import { isBuiltInController, isHub, lastContentWrite } from '#shared/kube/field-managers.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { EndpointSlice, Kind } from '#shared/kube/types.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { DelayReport, type EndpointDelay } from './delay-report.ts';
import {
  type ListedState,
  listedAs,
  listedChanges,
  type PackedStates,
  packedStates,
  podHash,
} from './listed-states.ts';

/** A change of a pod that slices are to show. */
interface Awaited {
  readonly change: EndpointChange;
  readonly sinceMs: number;
  /** Service and family of each slice that has shown it. Later moves between slices are no news. */
  readonly shownBy: Set<string>;
}

const maxAgeMs = delayBoundsMs.at(-1) as number;

/**
 * Maximum number of pods whose change is awaited, at some 200 bytes each, and of endpoints whose state is
 * known, at 8 bytes.
 */
const bounds = { pods: 10_000, endpoints: 1_000_000 };

/**
 * Measures how late endpoints are: from the event of a pod to the event of a slice that shows the change, by
 * the relay's own clock, for each Service and family, whoever wrote the slice. What a list shows first is no
 * change. Memory is bounded: the oldest changes are forgotten, and slices beyond the limit are not measured.
 */
export class EndpointDelays {
  readonly report = new DelayReport();
  readonly #deps: Pick<Runtime, 'clock' | 'meter'>;
  readonly #bounds: typeof bounds;
  readonly #onDelay: ((delay: EndpointDelay, pod: number) => void) | undefined;
  /** By the pod's hash, oldest first. */
  readonly #awaited = new Map<number, Awaited>();
  /** By "namespace/name". */
  readonly #slices = new Map<string, PackedStates>();
  #endpoints = 0;

  /** `onDelay`: is told each delay with the pod's hash. */
  constructor(
    deps: Pick<Runtime, 'clock' | 'meter'>,
    most: typeof bounds = bounds,
    onDelay?: (delay: EndpointDelay, pod: number) => void,
  ) {
    this.#deps = deps;
    this.#bounds = most;
    this.#onDelay = onDelay;
  }

  /** The watch has seen the change. It replaces an earlier one that no slice has shown. */
  podChanged(uid: string, change: EndpointChange): void {
    const pod = podHash(uid);
    this.#awaited.delete(pod);
    this.#awaited.set(pod, { change, sinceMs: this.#deps.clock.monotonic(), shownBy: new Set() });
    if (this.#awaited.size <= this.#bounds.pods) return;
    const [oldest] = this.#awaited.keys();
    this.#awaited.delete(oldest as number);
  }

  /**
   * The watch has seen a new state of the slice, or its deletion. Returns the longest delay of the changes that
   * it shows, ms; undefined if it shows none.
   */
  sliceChanged(key: string, slice: EndpointSlice, isDeleted: boolean): number | undefined {
    const before = this.#slices.get(key) ?? [];
    const after = isDeleted ? [] : packedStates(slice);
    this.#keep(key, isDeleted ? undefined : after);
    if (this.#awaited.size === 0) return undefined;
    const delays = listedChanges(before, after).flatMap(({ pod, ...states }) => {
      const awaited = this.#awaited.get(pod);
      if (!awaited || !shows(awaited.change, states)) return [];
      return this.#measure(pod, awaited, slice) ?? [];
    });
    return delays.length > 0 ? Math.max(...delays) : undefined;
  }

  /** A list has shown this state of the slice. */
  sliceListed(key: string, slice: EndpointSlice): void {
    this.#keep(key, packedStates(slice));
  }

  /** Call it before a list from whose version a watch begins. */
  reset(kind: Kind): void {
    this.interrupted(kind);
    if (kind !== 'EndpointSlice') return;
    this.#slices.clear();
    this.#endpoints = 0;
  }

  /** The kind was not read for a time, and a delay across that time would be the relay's own. */
  interrupted(kind: Kind): void {
    if (kind === 'Pod' || kind === 'EndpointSlice') this.#awaited.clear();
  }

  #keep(key: string, states: PackedStates | undefined): void {
    this.#endpoints -= this.#slices.get(key)?.length ?? 0;
    this.#slices.delete(key);
    if (!states || this.#endpoints + states.length > this.#bounds.endpoints) return;
    this.#slices.set(key, states);
    this.#endpoints += states.length;
  }

  #measure(pod: number, { change, sinceMs, shownBy }: Awaited, slice: EndpointSlice): number | undefined {
    const { namespace = '', labels } = slice.metadata;
    const service = labels?.[labelServiceName] ?? '';
    const place = `${service}/${slice.addressType}`;
    if (shownBy.has(place)) return undefined;
    shownBy.add(place);
    const { clock, meter } = this.#deps;
    const ms = Math.max(0, Math.round(clock.monotonic() - sinceMs));
    if (ms > maxAgeMs) return undefined;
    const writer = writerOf(slice);
    meter.observe('relay_endpoint_delay_seconds', { writer, change }, ms / 1000);
    const delay = { namespace, service, writer, change, ms };
    this.report.add(delay);
    this.#onDelay?.(delay, pod);
    return ms;
  }
}

function shows(
  change: EndpointChange,
  { before, after }: { before: ListedState; after: ListedState },
): boolean {
  switch (change) {
    case 'ready':
      return after === listedAs.ready;
    case 'not_ready':
      return before === listedAs.ready;
    case 'deleted':
      return before !== listedAs.terminating && (after === listedAs.terminating || after === listedAs.absent);
  }
}

/** The last client that wrote the endpoints. The event of a deletion does not name who deleted. */
function writerOf(slice: EndpointSlice): SliceWriter {
  const { manager = '' } = lastContentWrite(slice) ?? {};
  if (isHub(manager)) return 'hub';
  return isBuiltInController(manager) ? 'built_in' : 'other';
}
