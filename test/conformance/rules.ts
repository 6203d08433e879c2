/**
 * Deliberate differences from upstream, as named rules (docs/parity.md says why): the statement that is departed from, and a predicate on the
 * vector's input and the difference. Never a vector's id: a rule holds on vectors that nobody here has seen.
 */
import type { Difference } from './compare.ts';
import type { Vector } from './vector.ts';

export interface Rule {
  readonly name: string;
  readonly statement: string;
  readonly reason: string;
  readonly excuses: (vector: Vector, difference: Difference) => boolean;
}

export const rules: readonly Rule[] = [];

/** The differences that no rule excuses, and the names of the rules that were used. */
export function applyRules(vector: Vector, differences: readonly Difference[]): { readonly left: readonly Difference[]; readonly used: ReadonlySet<string> } {
  const used = new Set<string>();
  const left = differences.filter((d) => {
    const rule = rules.find((r) => r.excuses(vector, d));
    if (rule) used.add(rule.name);
    return !rule;
  });
  return { left, used };
}
