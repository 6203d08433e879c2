/**
 * Times decideSlices: `node test/bench/slices.ts [runs]`. Pods, service and ports are those of upstream's
 * measurement, so that the numbers can be put side by side.
 */
import { performance } from 'node:perf_hooks';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import type { SlicesInput } from '#shared/controllers/slices/plan.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import type { EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';
import { median } from './median.ts';

export interface Measured {
  readonly pods: number;
  readonly change: 'none' | 'one pod';
  /** Median. */
  readonly ms: number;
}

/** Once warm, the median of `runs` runs for each number of pods. */
export function benchSlices(podCounts: readonly number[] = [10, 1000, 5000], runs = 50): readonly Measured[] {
  return podCounts.flatMap((count) => {
    const settled = settle(inputWith(pods(count)));
    const [first, ...others] = settled.pods;
    const changed = { ...settled, pods: [notReady(first as Pod), ...others] };
    return [
      { pods: count, change: 'none', ms: timed(settled, false, runs) },
      { pods: count, change: 'one pod', ms: timed(changed, true, runs) },
    ] as const;
  });
}

function timed(input: SlicesInput, writes: boolean, runs: number): number {
  const times: number[] = [];
  for (let i = 0; i < runs + 20; i++) {
    const start = performance.now();
    const plan = decideSlices(input);
    times.push(performance.now() - start);
    if (hasWork(plan) !== writes) throw new Error(`expected ${writes ? 'writes' : 'no writes'}`);
  }
  return median(times.slice(20));
}

/** The input after its first plan was carried out. */
function settle(input: SlicesInput): SlicesInput {
  const plan = decideSlices(input);
  const names = new Set<string>();
  const slices = plan.addressTypes
    .flatMap((type) => type.create)
    .map((draft): EndpointSlice => {
      const named = assignName(draft, 'u', names);
      names.add(named.metadata.name);
      return named;
    });
  // through JSON, as slices come from an API or a table
  return {
    ...input,
    slices: JSON.parse(JSON.stringify(slices)) as EndpointSlice[],
    triggerTimes: plan.triggerTimes,
  };
}

function inputWith(pods: readonly Pod[]): SlicesInput {
  const service: Service = {
    metadata: { name: 's', namespace: 'ns', uid: 'u' },
    spec: {
      selector: { app: 'a' },
      clusterIP: '10.0.0.1',
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    },
  };
  const node: Node = { metadata: { name: 'node-0' } };
  return {
    service,
    pods,
    nodes: new Map([['node-0', node]]),
    slices: [],
    triggerTimes: undefined,
    hints: undefined,
    maxEndpointsPerSlice: 100,
  };
}

function pods(count: number): readonly Pod[] {
  const all = Array.from({ length: count }, (_, i) => {
    const ip = `10.${Math.floor(i / 62500)}.${Math.floor(i / 250) % 250}.${1 + (i % 250)}`;
    return {
      metadata: { name: `pod-${i}`, namespace: 'ns', uid: `uid-${i}`, labels: { app: 'a' } },
      spec: {
        nodeName: 'node-0',
        containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      },
      status: {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2023-11-14T22:13:20Z' }],
      },
    };
  });
  return JSON.parse(JSON.stringify(all)) as Pod[];
}

function notReady(pod: Pod): Pod {
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2023-11-14T22:14:00Z' }],
    },
  };
}

if (import.meta.main) {
  for (const { pods: count, change, ms } of benchSlices(undefined, Number(process.argv[2] ?? 50)))
    console.log(
      `slices, ${String(count).padStart(4)} pods, change ${change.padEnd(7)}: ${ms.toFixed(3).padStart(7)} ms`,
    );
}
