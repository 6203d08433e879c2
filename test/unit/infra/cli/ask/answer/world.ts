/** A namespace as the API has it, and what the controllers have made of it. */

import type { Answer } from '#infra/cli/ask/answer/service-answer.ts';
import { answerOf } from '#infra/cli/ask/answer/service-answer.ts';
import type { Surroundings, World } from '#infra/cli/ask/answer/world.ts';
import { causeLines } from '#infra/cli/ask/answer-text.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { CoreEvent, EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';
import { node, nodes, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

export const now = Date.parse('2026-03-01T10:00:00Z');

type Status = NonNullable<Pod['status']>;
type Spec = NonNullable<Pod['spec']>;

export interface PodParts {
  readonly labels?: { readonly [key: string]: string };
  readonly spec?: Partial<Spec>;
  readonly status?: Status;
  readonly metadata?: Partial<Pod['metadata']>;
}

/** A pod as kubelet reports it: container web with port http 8080, ready unless the status says otherwise. */
export function pod(name: string, { labels = { app: 'web' }, spec, status, metadata }: PodParts = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      labels,
      creationTimestamp: '2026-03-01T09:00:00Z',
      ...metadata,
    },
    spec: { nodeName: 'node-1', containers: [container()], ...spec } as Spec,
    status: {
      phase: 'Running',
      podIP: `10.1.0.${addressOf(name)}`,
      podIPs: [{ ip: `10.1.0.${addressOf(name)}` }],
      conditions: [condition('Ready', 'True')],
      containerStatuses: [containerStatus()],
      ...status,
    },
  };
}

const addressOf = (name: string): number =>
  [...name].reduce((sum, c) => (sum * 7 + c.charCodeAt(0)) % 250, 1);

export const container = (more: object = {}): Spec['containers'][number] => ({
  name: 'web',
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  ...more,
});

export const containerStatus = (more: object = {}): NonNullable<Status['containerStatuses']>[number] => ({
  ...{
    name: 'web',
    image: 'registry.example/web:1',
    imageID: '',
    ready: true,
    started: true,
    restartCount: 0,
  },
  state: { running: { startedAt: '2026-03-01T09:00:05Z' } } as never,
  ...more,
});

export const condition = (type: string, status: string, more: object = {}) =>
  ({ type, status, lastTransitionTime: '2026-03-01T09:00:10Z', ...more }) as NonNullable<
    Status['conditions']
  >[number];

/** The status of a pod that is not ready, with the states of its containers. */
export const notReady = (...containerStatuses: readonly object[]): Status => ({
  conditions: [condition('Ready', 'False', { reason: 'ContainersNotReady' })],
  containerStatuses: containerStatuses.map((c) => containerStatus({ ready: false, ...c })),
});

export const web = (spec: Service['spec'] = {}, metadata: Partial<Service['metadata']> = {}): Service =>
  service(
    {
      selector: { app: 'web' },
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
    { name: 'web', namespace: 'shop', creationTimestamp: '2026-03-01T08:00:00Z', ...metadata },
  );

export const event = (kind: string, name: string, reason: string, message: string): CoreEvent =>
  ({
    metadata: { name: `${name}.${reason}`, namespace: 'shop' },
    involvedObject: { kind, name, namespace: 'shop' },
    type: 'Warning',
    lastTimestamp: '2026-03-01T09:59:00Z',
    ...{ reason, message },
  }) as CoreEvent;

export interface Parts {
  readonly service?: Service | undefined;
  readonly pods?: readonly Pod[];
  readonly nodes?: readonly Node[];
  readonly around?: Surroundings;
  /** Undefined: what the controllers write for these. */
  readonly served?: World['served'];
  /** Slices beside those of the controllers. */
  readonly more?: readonly EndpointSlice[];
}

export function world(parts: Parts): World {
  const { pods = [], around = {}, more = [] } = parts;
  const of = 'service' in parts ? parts.service : web();
  const known = nodes(...(parts.nodes ?? [node('node-1', 'zone-a')]));
  const served = parts.served ?? written(of, pods, known);
  return {
    ...{ namespace: 'shop', name: 'web', service: of, pods, nodes: known, around, now },
    served: { ...served, slices: [...served.slices, ...more] },
  };
}

/** What the two controllers write. */
export function written(
  of: Service | undefined,
  pods: readonly Pod[],
  known: ReadonlyMap<string, Node>,
): World['served'] {
  if (!of) return { endpoints: undefined, slices: [] };
  const selected = pods.filter((p) => selectorMatches(of.spec?.selector, p.metadata.labels));
  const common = { service: of, pods: selected, triggerTimes: undefined };
  const { write } = decideEndpoints({ ...common, namespace: 'shop', name: 'web', current: undefined });
  const plan = decideSlices({
    ...common,
    nodes: known,
    slices: [],
    hints: undefined,
    maxEndpointsPerSlice: 100,
  });
  const slices = plan.addressTypes.flatMap((t) => t.create);
  return {
    endpoints: write?.verb === 'create' ? write.object : undefined,
    slices: slices.map((s, i) => ({ ...s, metadata: { ...s.metadata, name: `web-${i}` } })),
  };
}

export const ask = (parts: Parts): Answer => answerOf(world(parts));

/** The first lines of the answer, as a person reads them. */
export function told(answer: Answer): readonly string[] {
  const lines = causeLines(answer.causes).map((line) => (typeof line === 'string' ? line : line.text));
  return [answer.summary, ...lines];
}
