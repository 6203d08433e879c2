/** The sentence about an import: what its slices serve, and whether that is up to date. */
import type { ImporterExplanation, SourceExplanation } from '#infra/cli/ask/explain/explanation.ts';
import type { WrittenSource } from '#shared/clusterset/imports/written-sources.ts';

const words = {
  imported: 'imported',
  pending: 'import under way',
  preview: 'preview of an import',
  refused: 'import refused',
  'left out': 'not imported',
} as const;

/** `written`: what the last run that wrote slices left. Undefined: no run did. */
export function importSummary(
  name: string,
  { state, why }: ImporterExplanation,
  sources: readonly SourceExplanation[],
  written: readonly WrittenSource[] | undefined,
): string {
  if (sources.length === 0) return `Import of ${name}: ${[...remains(written, sources), why].join('; ')}.`;
  const isServed = state === 'imported' || (written?.length ?? 0) > 0;
  const what = isServed ? whatIsServed(sources, written) : planText(sources);
  const stays = isServed && (state === 'preview' || state === 'left out') ? ' in slices of before' : '';
  return `${capital(words[state])}: ${what}${stays}; ${[...remains(written, sources), why].join('; ')}.`;
}

function planText(sources: readonly SourceExplanation[]): string {
  const from = sources.map((s) => s.cluster).join(' and ');
  return `${sum(sources, 'ready')} of ${sum(sources, 'addresses')} addresses of ${from} are to be ready`;
}

/** Slices of a source that is silent stay as the last run wrote them. */
function whatIsServed(
  sources: readonly SourceExplanation[],
  written: readonly WrittenSource[] | undefined,
): string {
  const isWritten = (s: SourceExplanation): boolean =>
    written === undefined || s.addresses > 0 || s.pods.length === 0;
  const fresh = sources.filter((s) => s.state === 'fresh');
  const served = fresh.filter(isWritten);
  const unwritten = fresh.filter((s) => !isWritten(s));
  const others = sources.filter((s) => s.state !== 'fresh');
  return [
    ...(served.length > 0
      ? [`${readyText(served)} of ${namesOf(served)} ${sum(served, 'ready') === 1 ? 'is' : 'are'} ready`]
      : []),
    ...(unwritten.length > 0 ? [`none of ${namesOf(unwritten)} is listed`] : []),
    ...others.map((s) =>
      written && s.addresses > 0
        ? `${s.cluster} is ${s.state}, with ${readyText([s])} ready: ${s.why}`
        : `${s.cluster} is ${s.state}: ${s.why}`,
    ),
  ].join('; ');
}

/** Slices of a cluster that exports the name no more, which an import that is off or refused still has. */
function remains(
  written: readonly WrittenSource[] | undefined,
  sources: readonly SourceExplanation[],
): readonly string[] {
  const left = (written ?? []).filter((w) => !sources.some((s) => s.cluster === w.cluster));
  return left.map(
    (w) =>
      `${w.ready} of ${w.addresses} addresses of ${w.cluster}, which exports it no more, are still there`,
  );
}

const namesOf = (sources: readonly SourceExplanation[]): string =>
  sources.map((s) => s.cluster).join(' and ');
const readyText = (sources: readonly SourceExplanation[]): string =>
  `${sum(sources, 'ready')} of ${sum(sources, 'addresses')} addresses`;
const sum = (sources: readonly SourceExplanation[], what: 'ready' | 'addresses'): number =>
  sources.reduce((n, s) => n + s[what], 0);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
