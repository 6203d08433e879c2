/**
 * Deliberate differences from upstream, as named rules (docs/parity.md says why): the statement that is departed from, and a predicate on the
 * vector's input and the difference. Never a vector's id: a rule holds on vectors that nobody here has seen.
 */
import { annotationTriggerTime, labelEndpointsManagedBy, labelHeadless } from '#shared/kube/names.ts';
import type { Difference } from './compare.ts';
import type { EndpointsView, Vector } from './vector.ts';
import { canonical } from './view.ts';

export interface Rule {
  readonly name: string;
  readonly statement: string;
  readonly reason: string;
  readonly excuses: (vector: Vector, difference: Difference) => boolean;
}

export const rules: readonly Rule[] = [
  {
    name: 'redundant sync not run',
    statement: 'Q-8 with EP-59, EP-60',
    reason:
      'upstream runs a service again when an older delayed entry fires, although nothing has changed; only where it writes Endpoints in every sync ' +
      '(a service with one of the two label keys itself, more than 1,000 addresses) does that show: the trigger time goes with the second write',
    excuses: (vector, { what, expected, got }) => {
      if (!what.startsWith('endpoints ') || !expected || !got) return false;
      const [e, g] = [expected as EndpointsView, got as EndpointsView];
      return onlyTriggerTimeLeft(e, g) && (hasReservedLabel(vector, e) || addressCount(e) >= 1000);
    },
  },
];

/** Ours still has the trigger time of the change that both have seen, upstream's has none. */
function onlyTriggerTimeLeft(expected: EndpointsView, got: EndpointsView): boolean {
  const { [annotationTriggerTime]: time, ...annotations } = got.annotations as { readonly [key: string]: string };
  return time !== undefined && !(annotationTriggerTime in expected.annotations) && canonical({ ...got, annotations }) === canonical(expected);
}

function hasReservedLabel(vector: Vector, { namespace, name }: EndpointsView): boolean {
  const objects = [...vector.given, ...vector.steps.flatMap((s) => s.apply ?? [])];
  return objects.some(
    ({ kind, metadata }) =>
      kind === 'Service' &&
      metadata.namespace === namespace &&
      metadata.name === name &&
      [labelHeadless, labelEndpointsManagedBy].some((key) => key in (metadata.labels ?? {})),
  );
}

const addressCount = ({ subsets }: EndpointsView): number =>
  (subsets as readonly { readonly addresses?: readonly object[]; readonly notReadyAddresses?: readonly object[] }[]).reduce(
    (n, s) => n + (s.addresses ?? []).length + (s.notReadyAddresses ?? []).length,
    0,
  );

/** The differences that no rule excuses, and the names of the rules that were used. */
export function applyRules(
  vector: Vector,
  differences: readonly Difference[],
): { readonly left: readonly Difference[]; readonly used: ReadonlySet<string> } {
  const used = new Set<string>();
  const left = differences.filter((d) => {
    const rule = rules.find((r) => r.excuses(vector, d));
    if (rule) used.add(rule.name);
    return !rule;
  });
  return { left, used };
}
