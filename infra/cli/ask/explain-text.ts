/** An explanation as lines for a terminal: the state first, then the pods by reason, then the facts. */
import type { Explanation, PodExplanation, SetExplanation } from '#infra/cli/ask/explain/explanation.ts';
import { columns, type Line, type Style } from '#infra/cli/terminal/print-answer.ts';
import type { PodVerdict } from '#shared/controllers/verdicts/verdict.ts';
import { causeLines } from './answer-text.ts';

export interface ExplanationView {
  /** Every pod with each of its places, instead of pods by reason. */
  readonly isWide?: boolean;
  /** Only the pods that are selected and not ready. */
  readonly isNotReadyOnly?: boolean;
}

export function explanationLines(
  explanation: Explanation,
  { isWide = false, isNotReadyOnly = false }: ExplanationView = {},
): readonly Line[] {
  const { cluster, namespace, name, health, summary, pods, differences, unknown = [] } = explanation;
  const { answer, groups, clusterset, differencesTitle } = explanation;
  const heading = styled(`${cluster} ${namespace}/${name}: ${summary}`, health);
  const causes = answer ? causeLines(answer.causes) : [];
  const shown = isNotReadyOnly ? pods.filter((pod) => pod.relation === 'selected' && !pod.reachable) : pods;
  const podsLines = isWide ? shown.flatMap((pod) => ['', ...podLines(pod)]) : podGroups(shown);
  if (isNotReadyOnly) return [heading, ...causes, ...podsLines];
  const facts = groups.flatMap(({ title, facts }) => [
    '',
    titled(title),
    ...table(facts.map(({ label, text }) => [label, text])),
  ]);
  const differing: readonly Line[] =
    differences.length > 0
      ? ['', styled(differencesTitle, 'warning'), ...differences.map((d) => `  ${d}`)]
      : [];
  const notKnown: readonly Line[] =
    unknown.length > 0 ? ['', titled('Not known'), ...unknown.map((u) => `  ${u}`)] : [];
  return [
    heading,
    ...causes,
    ...notKnown,
    ...differing,
    ...podsLines,
    ...(clusterset ? setLines(clusterset) : []),
    ...facts,
  ];
}

const styled = (text: string, style: Style | undefined): Line => (style ? { text, style } : text);
const titled = (text: string): Line => ({ text, style: 'title' });

const relations = { selected: '', left: ' (no longer selected)', near: ' (not selected)' } as const;

function podLines({ pod, relation, endpoints, slices }: PodExplanation): readonly string[] {
  return [
    `Pod ${pod}${relations[relation]}`,
    ...table([
      ['Endpoints', verdictText(endpoints)],
      ...slices.map((s): [string, string] => [`${s.family} slices`, verdictText(s)]),
    ]),
  ];
}

/** Titles in the order of what a reader looks for. */
const sections = ['Not ready', 'No longer selected', 'Ready', 'Not selected'] as const;
const sectionStyles = {
  'Not ready': 'bad',
  'No longer selected': 'warning',
  Ready: 'good',
  'Not selected': 'faint',
} as const;

const sectionOf = (pod: PodExplanation): (typeof sections)[number] =>
  pod.relation === 'near'
    ? 'Not selected'
    : pod.relation === 'left'
      ? 'No longer selected'
      : pod.reachable
        ? 'Ready'
        : 'Not ready';

/** Number of pods that are named for a reason. `-o wide` names all. */
const maxNamed = 10;

function podGroups(pods: readonly PodExplanation[]): readonly Line[] {
  const bySection = Map.groupBy(pods, sectionOf);
  return sections.flatMap((section): readonly Line[] => {
    const alike = bySection.get(section) ?? [];
    if (alike.length === 0) return [];
    const byReason = Map.groupBy(alike, (pod) => reasonLines(pod).join('\n'));
    const groups = [...byReason].sort(([, a], [, b]) => b.length - a.length);
    const lines = groups.flatMap(([reason, alike]) => [
      ...reason.split('\n').map((line) => `  ${line}`),
      ...namedPods(alike),
    ]);
    return [
      '',
      { text: `${section} (${alike.length.toLocaleString('en')})`, style: sectionStyles[section] },
      ...lines,
    ];
  });
}

function namedPods(pods: readonly PodExplanation[]): readonly string[] {
  const rows = pods.slice(0, maxNamed).map((pod): readonly string[] => {
    const verdicts = [...pod.slices, pod.endpoints];
    const addresses = [...new Set(verdicts.flatMap((v) => v.addresses))].join(', ');
    const since = verdicts.find((v) => v.since)?.since;
    return [pod.pod, addresses || '-', since ? `since ${since}` : ''];
  });
  const more = pods.length - rows.length;
  return [
    ...columns(rows).map((line) => `    ${line}`),
    ...(more > 0 ? [`    and ${more.toLocaleString('en')} more: -o wide names them`] : []),
  ];
}

/**
 * A line for each state and reason, with the places that share it. Times are left out, because they differ
 * between pods.
 */
function reasonLines({ endpoints, slices }: PodExplanation): readonly string[] {
  const places: readonly { readonly where: string; readonly verdict: PodVerdict<string> }[] = [
    // The hub deletes the Endpoints of a Service that opts in, so this reason is the same for every pod.
    ...(endpoints.reason === 'OptIn' ? [] : [{ where: 'Endpoints', verdict: endpoints }]),
    ...slices.map((verdict) => ({ where: `${verdict.family} slices`, verdict })),
  ];
  const alike = Map.groupBy(places, ({ verdict: { place, why, pending } }) =>
    JSON.stringify([placeTexts[place] ?? place, withoutTime(why), pending]),
  );
  return [...alike.values()].map((alike) => {
    const [{ verdict }] = alike as [(typeof places)[number]];
    const pending = verdict.pending ? ` [${verdict.pending}]` : '';
    return `${alike.map((p) => p.where).join(' and ')}: ${placeTexts[verdict.place] ?? verdict.place}, ${withoutTime(verdict.why)}${pending}`;
  });
}

const placeTexts: { readonly [place: string]: string } = {
  absent: 'not an address',
  addresses: 'ready',
  notReadyAddresses: 'not ready',
};
const withoutTime = (why: string): string => why.replace(/ since \S+?(?=[,;]|$)/g, '');

function setLines({ sources, importers, conflicts, leftOut }: SetExplanation): readonly Line[] {
  const list = (title: string, lines: readonly string[]): readonly Line[] =>
    lines.length > 0 ? ['', titled(title), ...lines.map((l) => `  ${l}`)] : [];
  const ofSources = sources.flatMap(({ cluster, state, why, addresses, ready, ports, pods }) => [
    `${cluster}: ${state}, ${why}`,
    `  ${addresses} ${addresses === 1 ? 'address' : 'addresses'}, ${ready} ready, ports ${ports}`,
    ...pods.map((pod) => `  ${pod.pod === '' ? 'no pod' : `pod ${pod.pod}`}: ${verdictText(pod)}`),
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

function verdictText({ place, why, addresses, pending }: Omit<PodVerdict<string>, 'reason'>): string {
  const where =
    place === 'absent'
      ? 'not an address'
      : `${addresses.join(', ')}, ${place === 'addresses' ? 'ready' : place === 'notReadyAddresses' ? 'in notReadyAddresses' : place}`;
  return `${where}: ${why}${pending ? ` [${pending}]` : ''}`;
}

const table = (rows: readonly (readonly [string, string])[]): readonly string[] =>
  columns(rows).map((line) => `  ${line}`);
