/** Explains from the snapshot why a service has an address or lacks it. */
import type { Explanation } from './explanation.ts';
import { clusterFacts, fact, savedFacts, serviceFacts, workFacts } from './facts.ts';
import { answered, hubHealth, summaryOf, unread } from './hub-answer.ts';
import type { ExplainInput } from './input.ts';
import { savedAddresses } from './saved.ts';
import { shownDifferences } from './shown-differences.ts';
import { writerFacts } from './writer-facts.ts';

export function explainService(input: ExplainInput): Explanation {
  const { standing, answer, pods, isHeld } = answered(input);
  const { state } = standing;
  const { set } = input;
  const shown = shownDifferences(input.service, input.cluster, input.difference);
  const preview = set?.preview ?? [];
  const isOwn = input.service !== undefined || !set;
  return {
    cluster: input.cluster.id,
    namespace: input.namespace,
    name: input.name,
    ...(isOwn && { state, health: hubHealth(state, answer, input) }),
    summary: [isOwn ? summaryOf(input, standing, answer) : '', set?.exportSummary, set?.importSummary]
      .filter(Boolean)
      .join(' '),
    groups: groupsOf(input, isOwn, isHeld),
    saved: savedAddresses(input.saved),
    pods,
    differencesTitle: preview.length > 0 && shown.lines.length === 0 ? 'Preview' : shown.title,
    differences: [...shown.lines, ...preview],
    ...(set && { clusterset: set.set }),
    ...(isOwn && answer && { answer, unknown: unread(input, answer) }),
  };
}

const groupsOf = (input: ExplainInput, isOwn: boolean, isHeld: boolean): Explanation['groups'] => {
  const { service, hints, cluster, set } = input;
  return [
    ...(service
      ? [
          {
            title: 'Service',
            facts: [
              ...serviceFacts(service, { hints, writer: writerFacts(service, cluster) }),
              ...fact('Zone', isHeld ? heldText : undefined),
            ],
          },
        ]
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

const heldText = 'its pods in a zone that is away stay: no ready pod elsewhere serves all that they serve';
