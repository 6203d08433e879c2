/** The nodes of every fault: three zones, one node without a zone, and one whose kubelet is silent. */
import type { Step } from './scene.ts';

const nodes: readonly { readonly name: string; readonly zone?: string; readonly down?: true }[] = [
  { name: 'ip-10-40-1-11', zone: 'eu-a' },
  { name: 'ip-10-40-1-12', zone: 'eu-a' },
  { name: 'ip-10-40-2-21', zone: 'eu-b' },
  { name: 'ip-10-40-2-22', zone: 'eu-b' },
  { name: 'ip-10-40-3-31', zone: 'eu-c' },
  { name: 'ip-10-40-9-91' },
  { name: 'ip-10-40-2-99', zone: 'eu-b', down: true },
];

const sinceThen = '2026-11-27T09:14:02Z';
const up = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: sinceThen };
const silent = {
  ...{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: sinceThen },
  message: 'Kubelet stopped posting node status.',
};

export const nodesOfFaults: readonly Step[] = nodes.flatMap(({ name, zone, down }): readonly Step[] => [
  {
    create: {
      ...{ apiVersion: 'v1', kind: 'Node' },
      metadata: { name, ...(zone && { labels: { 'topology.kubernetes.io/zone': zone } }) },
    },
  },
  {
    status: {
      ...{ kind: 'Node', name },
      status: { allocatable: { cpu: '4', memory: '16Gi', pods: '110' }, conditions: [down ? silent : up] },
    },
  },
]);
