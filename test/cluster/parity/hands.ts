/** Actions of the script on the cluster, which are the same each time, with the same addresses and times. */
import type { Endpoint, Service } from '#shared/kube/types.ts';
import type { Api, Draft } from '#test/e2e/api.ts';
import type { Observed } from '#test/e2e/observed.ts';
import { newWorld, type PodSketch, type World } from '#test/e2e/world.ts';

export interface Hands
  extends Pick<World, 'api' | 'endpoints' | 'slices' | 'removePod' | 'terminatePod' | 'service'> {
  readonly namespace: string;
  /** The time of everything that becomes ready, or stops being it, in this step. */
  readonly since: string;
  /** Pods PREFIX-N for all the numbers, each with the addresses that go with its name. */
  pods(prefix: string, numbers: readonly number[], sketch: Draftable): Promise<void>;
  ready(ready: boolean, ...pods: readonly string[]): Promise<void>;
  phase(pod: string, phase: 'Succeeded' | 'Failed'): Promise<void>;
  remove(...pods: readonly string[]): Promise<void>;
  patch(service: string, patch: Draft<'Service'>): Promise<Service>;
  /** The one slice of a service. */
  slice(service: string): string;
}
type Draftable = Omit<PodSketch, 'ips' | 'since'> & { readonly dual?: boolean; readonly ipv4?: boolean };

/** The endpoints of all slices of a service. */
export const inSlices = (h: Pick<Hands, 'slices'>, service: string): readonly Endpoint[] =>
  h.slices(service).flatMap((s) => s.endpoints ?? []);

export const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
export const pod = (prefix: string, number: number): string => `${prefix}-${number}`;

/** `step` counts from 0. */
export function newHands(api: Api, observed: Observed, namespace: string): (step: number) => Hands {
  const world = newWorld(api, observed, namespace, ['node-a', 'node-b']);
  const prefixes: string[] = [];
  const addresses = (prefix: string, number: number, { dual, ipv4 = true }: Draftable): readonly string[] => {
    if (!prefixes.includes(prefix)) prefixes.push(prefix);
    const net = prefixes.indexOf(prefix) + 1;
    const six = `fd00:${net}::${number.toString(16)}`;
    return [
      ...(ipv4 ? [`10.${net}.${Math.floor(number / 250)}.${1 + (number % 250)}`] : []),
      ...(dual || !ipv4 ? [six] : []),
    ];
  };
  const made = new Map<string, readonly string[]>();

  return (step) => {
    // Later than any time of the script itself, and later with every step.
    const since = new Date(Date.UTC(2040, 0, 1) + step * 1000).toISOString().replace('.000Z', 'Z');
    const status = (name: string, more: Parameters<World['podStatus']>[1]) =>
      world.podStatus(name, { ips: made.get(name) ?? [], since, ...more });
    return {
      ...world,
      since,
      async pods(prefix, list, sketch) {
        const left = list.map((number) => ({
          name: pod(prefix, number),
          ips: addresses(prefix, number, sketch),
        }));
        for (const { name, ips } of left) made.set(name, ips);
        await inParallel(
          left,
          async ({ name, ips }) => void (await world.pod(name, { ...sketch, ips, since })),
        );
      },
      ready: (ready, ...pods) => inParallel(pods, (name) => status(name, { ready })),
      phase: (name, phase) => status(name, { phase }),
      remove: (...pods) => inParallel(pods, world.removePod),
      patch: (service, patch) => api.patch('Service', namespace, service, patch),
      slice(service) {
        const [slice, ...more] = world.slices(service);
        if (!slice || more.length > 0)
          throw new Error(`${service} has ${more.length + (slice ? 1 : 0)} slices, not one`);
        return slice.metadata.name;
      },
    };
  };
}

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.toReversed();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await act(item);
    }),
  );
}
