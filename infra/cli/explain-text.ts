/** An explanation as lines for a terminal. */
import type { Explanation, PodExplanation, Verdict } from '#shared/explain/explanation.ts';

export function explanationLines({ cluster, namespace, name, summary, groups, pods, differences, differencesTitle }: Explanation): readonly string[] {
  const heading = `${cluster} ${namespace}/${name}: ${summary}`;
  const facts = groups.flatMap(({ title, facts }) => ['', title, ...table(facts.map(({ label, text }) => [label, text]))]);
  const lines = pods.flatMap((pod) => ['', ...podLines(pod)]);
  const differing = differences.length > 0 ? ['', differencesTitle, ...differences.map((d) => `  ${d}`)] : [];
  return [heading, ...facts, ...differing, ...lines];
}

const relations = { selected: '', left: ' (no longer selected)', near: ' (not selected)' } as const;

function podLines({ pod, relation, endpoints, slices }: PodExplanation): readonly string[] {
  return [
    `Pod ${pod}${relations[relation]}`,
    ...table([['Endpoints', verdictText(endpoints)], ...slices.map((s): [string, string] => [`${s.family} slices`, verdictText(s)])]),
  ];
}

function verdictText({ place, why, addresses, pending }: Verdict<string>): string {
  const where =
    place === 'absent'
      ? 'not an address'
      : `${addresses.join(', ')}, ${place === 'addresses' ? 'ready' : place === 'notReadyAddresses' ? 'in notReadyAddresses' : place}`;
  return `${where}: ${why}${pending ? ` [${pending}]` : ''}`;
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
}
