/** Explains from the snapshot why a service has an address or lacks it. */
import type { Explanation } from './explanation.ts';
import { clusterFacts, savedFacts, serviceFacts, workFacts } from './facts.ts';
import { answered, hubHealth, stateOf, summaryOf, unread } from './hub-answer.ts';
import type { ExplainInput } from './input.ts';
import { savedAddresses } from './saved.ts';
import { standingOf } from './standing.ts';
import { toldDifferences } from './told-differences.ts';
import { writerFacts } from './writer-facts.ts';

export function explainService(input: ExplainInput): Explanation {
  const standing = standingOf(input);
  const { answer, pods } = answered(input, standing);
  const state = stateOf(standing, answer);
  const { set } = input;
  const told = toldDifferences(input.service, input.cluster, input.difference);
  const preview = set?.preview ?? [];
  const isOwn = input.service !== undefined || !set;
  return {
    cluster: input.cluster.id,
    namespace: input.namespace,
    name: input.name,
    ...(isOwn && { state, health: hubHealth(state, answer) }),
    summary: [isOwn ? summaryOf(input, standing, answer) : '', set?.exportSummary, set?.importSummary]
      .filter(Boolean)
      .join(' '),
    groups: groupsOf(input, isOwn),
    saved: savedAddresses(input.saved),
    pods,
    differencesTitle: preview.length > 0 && told.lines.length === 0 ? 'Preview' : told.title,
    differences: [...told.lines, ...preview],
    ...(set && { clusterset: set.set }),
    ...(isOwn && answer && { answer, unknown: unread(input, answer) }),
  };
}

const groupsOf = (input: ExplainInput, isOwn: boolean): Explanation['groups'] => {
  const { service, hints, cluster, set } = input;
  return [
    ...(service
      ? [{ title: 'Service', facts: serviceFacts(service, { hints, writer: writerFacts(service, cluster) }) }]
      : []),
    ...(set?.groups ?? []),
    ...(isOwn
      ? [
          { title: 'Work', facts: workFacts(input) },
          { title: 'Saved', facts: savedFacts(input) },
        ]
      : []),
    { title: 'Cluster', facts: clusterFacts(input) },
  ];
};
