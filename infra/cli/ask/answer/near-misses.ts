/** Labels that a selector nearly matches: they differ in one pair, in its key, its case or its value. */
import type { Labels } from '#shared/kube/labels.ts';
import { isAlike } from './likeness.ts';

export interface NearMiss<T> {
  readonly of: readonly T[];
  /** A clause for each pair that differs. */
  readonly why: readonly ((whose: string) => string)[];
}

interface Difference {
  readonly text: (whose: string) => string;
  /** The lower, the nearer. Undefined: they have nothing to do with each other. */
  readonly cost: number | undefined;
}

/** Returns what differs least from the selector, or undefined if nothing is near. */
export function nearMiss<T extends { readonly labels: Labels }>(
  selector: Labels,
  candidates: readonly T[],
): NearMiss<T> | undefined {
  const pairs = Object.entries(selector);
  const known = new Map<
    string,
    { readonly cost: number; readonly why: NearMiss<T>['why']; readonly of: T[] }
  >();
  for (const candidate of candidates) {
    const shape = JSON.stringify(Object.entries(candidate.labels).sort());
    const before = known.get(shape);
    if (before) {
      before.of.push(candidate);
      continue;
    }
    const missing = pairs.filter(([key, value]) => candidate.labels[key] !== value);
    const differences = missing.map(([key, value]) => difference(key, value, candidate.labels));
    // A pair that matches makes any difference of another one near. The only pair must be alike itself.
    const hasMatch = missing.length < pairs.length;
    const costs = differences.map(({ cost }) => cost ?? (hasMatch ? 4 : Number.POSITIVE_INFINITY));
    const cost = costs.reduce((sum, c) => sum + c, 0) - (pairs.length - missing.length);
    if (Number.isFinite(cost))
      known.set(shape, { cost, why: differences.map((d) => d.text), of: [candidate] });
  }
  const best = Math.min(...[...known.values()].map((k) => k.cost));
  const nearest = [...known.values()].filter((k) => k.cost === best);
  const [first] = nearest;
  return first && { of: nearest.flatMap((k) => k.of), why: first.why };
}

function difference(key: string, value: string, labels: Labels): Difference {
  const has = labels[key];
  if (has !== undefined) {
    const isCase = has.toLowerCase() === value.toLowerCase();
    return {
      text: (whose) =>
        `it asks for ${key}=${value}, and ${whose} ${haveOf(whose)} ${key}=${has}${isCase ? ', which differs in upper and lower case' : ''}`,
      cost: isCase ? 1 : isAlike(has, value) ? 2 : undefined,
    };
  }
  const keys = Object.keys(labels);
  const sameValue = keys.find((k) => labels[k] === value);
  const alikeKey = keys.find((k) => isAlike(lastPart(k), lastPart(key)) || isAlike(k, key));
  const near = sameValue ?? alikeKey;
  const instead = near === undefined ? '' : `, but ${near}=${labels[near]}`;
  return {
    text: (whose) => `it asks for ${key}=${value}, and ${whose} ${haveOf(whose)} no label ${key}${instead}`,
    cost:
      sameValue !== undefined
        ? 2
        : alikeKey !== undefined && isAlike(labels[alikeKey] ?? '', value)
          ? 3
          : undefined,
  };
}

const haveOf = (whose: string): string => (/^pod /.test(whose) ? 'has' : 'have');
const lastPart = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
