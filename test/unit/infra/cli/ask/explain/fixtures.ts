import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { Explanation, PodExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { type ClusterRecord, decodeCluster } from '#shared/clusters/record.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { noWork } from '#test/support/absent-records.ts';
import { endpoint, node, nodes, pod, service, slice } from '#test/unit/shared/controllers/slices/fixtures.ts';

export const now = Date.parse('2026-03-01T10:00:00Z');

/** An active cluster whose first lists are complete. */
export function clusterRecord(more: Partial<ClusterRecord> = {}): ClusterRecord {
  const known = decodeCluster('a', { pk: '', sk: '', mode: 'active', inc: 1 });
  const firstListOf = { Service: 1, Pod: 1, Node: 1, Endpoints: 1, EndpointSlice: 1 };
  return {
    ...known,
    lists: { firstListOf, ownListsWanted: [], suppressesWakeUps: false, begun: {} },
    relay: { ...known.relay, heartbeatAtMs: now - 2_000 },
    ...more,
  };
}

/** Service ns/foo with selector app=a, one ready pod, which its slice lists. */
export function input(
  more: Partial<Omit<ExplainInput, 'pods'>> & { readonly pods?: readonly Pod[] } = {},
): ExplainInput {
  const { pods = [pod(1)], ...rest } = more;
  return {
    cluster: clusterRecord(),
    namespace: 'ns',
    name: 'foo',
    service: service(),
    pods: pods.map((p) => ({ name: p.metadata.name, pod: p, formerLabels: [] })),
    nodes: nodes(node('node-1', 'zone-a')),
    work: noWork,
    triggers: { endpoints: undefined, slices: undefined },
    hints: undefined,
    saved: { endpoints: undefined, slices: [slice('foo-1', [endpoint(1)])] },
    difference: undefined,
    now,
    ...rest,
  };
}

/** Returns the only explained pod. */
export function onlyPod(explanation: Explanation): PodExplanation {
  if (explanation.pods.length !== 1)
    throw new Error(`expected one pod, got ${explanation.pods.map((p) => p.pod)}`);
  return explanation.pods[0] as PodExplanation;
}

export const explainPod = (
  p: Pod,
  s: Service = service(),
  more: Partial<Omit<ExplainInput, 'pods' | 'service'>> = {},
): PodExplanation => onlyPod(explainService(input({ ...more, pods: [p], service: s })));

export const factsOf = (explanation: Explanation, title: string): { readonly [label: string]: string } =>
  Object.fromEntries(
    explanation.groups.filter((g) => g.title === title).flatMap((g) => g.facts.map((f) => [f.label, f.text])),
  );
