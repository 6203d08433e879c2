/** An explanation as lines for a terminal. */
import type { Explanation, PodExplanation, SetExplanation, Verdict } from '#shared/explain/explanation.ts';

export function explanationLines(explanation: Explanation): readonly string[] {
  const { cluster, namespace, name, summary, groups, pods, differences, differencesTitle, clusterset } = explanation;
  const heading = `${cluster} ${namespace}/${name}: ${summary}`;
  const facts = groups.flatMap(({ title, facts }) => ['', title, ...table(facts.map(({ label, text }) => [label, text]))]);
  const lines = pods.flatMap((pod) => ['', ...podLines(pod)]);
  const differing = differences.length > 0 ? ['', differencesTitle, ...differences.map((d) => `  ${d}`)] : [];
  return [heading, ...facts, ...differing, ...(clusterset ? setLines(clusterset) : []), ...lines];
}

const relations = { selected: '', left: ' (no longer selected)', near: ' (not selected)' } as const;

function podLines({ pod, relation, endpoints, slices }: PodExplanation): readonly string[] {
  return [
    `Pod ${pod}${relations[relation]}`,
    ...table([['Endpoints', verdictText(endpoints)], ...slices.map((s): [string, string] => [`${s.family} slices`, verdictText(s)])]),
  ];
}

function setLines({ sources, importers, conflicts, leftOut }: SetExplanation): readonly string[] {
  const list = (title: string, lines: readonly string[]): readonly string[] => (lines.length > 0 ? ['', title, ...lines.map((l) => `  ${l}`)] : []);
  const ofSources = sources.flatMap(({ cluster, state, why, addresses, ready, ports, pods }) => [
    `${cluster}: ${state}, ${why}`,
    `  ${addresses} ${addresses === 1 ? 'address' : 'addresses'}, ${ready} ready, ports ${ports}`,
    ...pods.map((pod) => `  pod ${pod.pod}: ${verdictText(pod)}`),
  ]);
  return [
    ...list(
      'Importers',
      importers.map(({ cluster, state, why }) => `${cluster}: ${state}, ${why}`),
    ),
    ...list('Sources', ofSources),
    ...list('Conflicts', conflicts),
    ...list('Left out by the last run', leftOut),
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
