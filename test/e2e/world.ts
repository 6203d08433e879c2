import type { EndpointSlice, Endpoints, Pod, Service, ServicePort } from '#shared/kube/types.ts';
import type { Api, Draft } from './api.ts';
import type { Observed } from './observed.ts';

/** A namespace of its own in the cluster under test, and the hands of its user and of its kubelets. */
export interface World {
  readonly namespace: string;
  readonly api: Api;
  /** Two nodes, in `zone-a` and `zone-b`. */
  readonly nodes: readonly [string, string];
  service(
    name: string,
    spec: Draft<'Service'>['spec'],
    metadata?: Draft<'Service'>['metadata'],
  ): Promise<Service>;
  /** Creates a pod that runs, is ready and has an address, unless the sketch differs. */
  pod(name: string, sketch: PodSketch): Promise<Pod>;
  pods(prefix: string, count: number, sketch: PodSketch): Promise<void>;
  podStatus(name: string, status: PodStatusSketch): Promise<void>;
  /** At once, as a kubelet does when everything has stopped. */
  removePod(name: string): Promise<void>;
  /** Asks it to stop: it goes on running until `removePod`. */
  terminatePod(name: string): Promise<void>;
  endpoints(service: string): Endpoints | undefined;
  /** Sorted by address type and name. */
  slices(service: string): readonly EndpointSlice[];
  eventually: Observed['eventually'];
  /**
   * Resolves when a change made after all others has shown, twice: what was to be written for those has been.
   * A test waits for it before it deletes a slice. A watcher can see a slice before its writer has the
   * answer; where the slice is deleted in between, upstream's tracker notes it afterwards and takes its cache
   * for stale from then on (TR-4c).
   */
  settled(): Promise<void>;
}

export interface PodSketch extends PodStatusSketch {
  readonly labels?: { readonly [name: string]: string };
  readonly node?: string;
  readonly ports?: readonly ContainerPort[];
  readonly spec?: Draft<'Pod'>['spec'];
}
export interface PodStatusSketch {
  readonly ready?: boolean;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  /** Made up when absent; none when empty. */
  readonly ips?: readonly string[];
  /** When the pod became ready, or stopped being it: RFC 3339, whole seconds. */
  readonly since?: string;
}
export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

export const httpPort = {
  name: 'http',
  port: 80,
  targetPort: 8080,
  protocol: 'TCP',
} as const satisfies ServicePort;

export function newWorld(api: Api, observed: Observed, namespace: string, nodes: World['nodes']): World {
  const ips = new Map<string, readonly string[]>();
  let barriers = 0;

  const world: World = {
    namespace,
    api,
    nodes,
    service: (name, spec, metadata) =>
      api.create('Service', namespace, { metadata: { ...metadata, name }, spec: spec ?? {} }),
    async pod(name, sketch) {
      const container = { name: 'c', image: 'i', ...(sketch.ports && { ports: sketch.ports }) };
      const spec = { nodeName: sketch.node ?? nodes[0], containers: [container], ...sketch.spec };
      const pod = await api.create('Pod', namespace, {
        metadata: { name, labels: sketch.labels ?? {} },
        spec,
      } as Draft<'Pod'>);
      ips.set(name, sketch.ips ?? [`10.1.${Math.floor(ips.size / 250)}.${1 + (ips.size % 250)}`]);
      await world.podStatus(name, sketch);
      return pod;
    },
    async pods(prefix, count, sketch) {
      const names = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
      const hands = Array.from({ length: 8 }, async () => {
        for (let name = names.pop(); name; name = names.pop()) await world.pod(name, sketch);
      });
      await Promise.all(hands);
    },
    async podStatus(
      name,
      {
        ready = true,
        phase = 'Running',
        ips: given,
        since = new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      },
    ) {
      const podIPs = (given ?? ips.get(name) ?? []).map((ip) => ({ ip }));
      const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }];
      const status = { phase, conditions, ...(podIPs[0] && { podIP: podIPs[0].ip, podIPs }) };
      await api.patchStatus('Pod', namespace, name, { status } as Draft<'Pod'>);
    },
    removePod: (name) => api.delete('Pod', namespace, name, { gracePeriodSeconds: 0 }),
    terminatePod: (name) => api.delete('Pod', namespace, name, { gracePeriodSeconds: 600 }),
    endpoints: (service) => observed.endpoints(namespace, service),
    slices: (service) =>
      observed
        .slices(namespace, service)
        .toSorted((a, b) =>
          `${a.addressType} ${a.metadata.name}`.localeCompare(`${b.addressType} ${b.metadata.name}`),
        ),
    eventually: observed.eventually,
    async settled() {
      for (const round of [0, 1]) {
        const labels = { round: String(++barriers) };
        if (barriers === 1)
          await world.service('barrier', { selector: { app: 'barrier' }, ports: [httpPort] }, { labels });
        else await api.patch('Service', namespace, 'barrier', { metadata: { labels } });
        await observed.eventually(() => {
          const written = [world.endpoints('barrier'), ...world.slices('barrier')].map(
            (o) => o?.metadata.labels?.['round'],
          );
          if (written.length < 2 || written.some((r) => r !== labels.round))
            throw new Error(`the change that marks the end has not shown (${round})`);
        });
      }
    },
  };
  return world;
}

/** One fact about the cluster, in a namespace of its own. All run at the same time. */
export type Scenario = (fact: string, body: (world: World) => Promise<void>) => void;
