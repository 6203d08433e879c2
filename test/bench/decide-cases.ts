/**
 * Cases of `npm run bench`: both controllers on one service with projected pods, in a settled state except
 * for one change.
 */
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import { project } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Endpoints, Node, Pod, Service } from '#shared/kube/types.ts';
import { pod as aPod, service as aService } from '#test/support/objects.ts';
import { hasWork } from '#test/support/slices-work.ts';

export type Change = 'none' | 'pod';

export interface Case {
  readonly pods: number;
  readonly change: Change;
  readonly endpoints: () => unknown;
  readonly slices: () => unknown;
}

/** The same service and pods as test/cluster/control-plane/bench. */
export function decideCase(count: number, change: Change): Case {
  const settledPods = Array.from({ length: count }, (_, i) => pod(i, 'True'));
  const pods = change === 'none' ? settledPods : settledPods.with(0, pod(0, 'False'));
  const common = { namespace: 'ns', name: 's', service };

  const first = decideEndpoints({
    ...common,
    pods: settledPods,
    current: undefined,
    triggerTimes: undefined,
  });
  const current = served(first.write?.verb === 'create' ? first.write.object : undefined) as Endpoints;
  const endpointsInput = { ...common, pods, current, triggerTimes: first.triggerTimes };

  const slicesCommon = { ...common, nodes, hints: undefined, maxEndpointsPerSlice: 100 };
  const made = decideSlices({ ...slicesCommon, pods: settledPods, slices: [], triggerTimes: undefined });
  const names = new Set<string>();
  const slices = made.addressTypes
    .flatMap((t) => t.create)
    .map((draft) => {
      const slice = assignName(draft, 'u', names);
      names.add(slice.metadata.name);
      return served(slice) as EndpointSlice;
    });
  const slicesInput = { ...slicesCommon, pods, slices, triggerTimes: made.triggerTimes };

  // Above 1,000 pods Endpoints are truncated and may not show a pod's change, so the slices confirm the kind
  // of the case.
  if (hasWork(decideSlices(slicesInput)) !== (change !== 'none'))
    throw new Error(`${count} pods, change ${change}: not the writes of this case`);
  return {
    pods: count,
    change,
    endpoints: () => decideEndpoints(endpointsInput),
    slices: () => decideSlices(slicesInput),
  };
}

const service: Service = project(
  'Service',
  aService(
    { selector: { app: 'a' }, ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] },
    { name: 's', uid: 'u', creationTimestamp: '2023-11-14T22:00:00Z' },
  ),
);

const nodes: ReadonlyMap<string, Node> = new Map([
  ['node-0', project('Node', { metadata: { name: 'node-0' } } as Node)],
]);

const pod = (i: number, ready: 'True' | 'False'): Pod =>
  project(
    'Pod',
    aPod(`pod-${i}`, {
      labels: { app: 'a' },
      ips: [`10.${Math.floor(i / 62500)}.${Math.floor(i / 250) % 250}.${1 + (i % 250)}`],
      ready: ready === 'True',
      readySince: ready === 'True' ? '2023-11-14T22:13:20Z' : '2023-11-14T22:14:00Z',
      spec: { nodeName: 'node-0' },
    }),
  );

/** As it comes back from the table, from the API's answer. */
function served(object: Endpoints | EndpointSlice | undefined): unknown {
  if (!object) throw new Error('nothing was created');
  return JSON.parse(
    JSON.stringify({
      ...object,
      metadata: { ...object.metadata, uid: 'o', resourceVersion: '1', generation: 1 },
    }),
  );
}
