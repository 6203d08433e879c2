export type Labels = { readonly [key: string]: string };

/**
 * Every pair of the selector is among the labels. A nil selector matches nothing, an empty one everything
 * (PK-10).
 */
export function selectorMatches(
  selector: Labels | null | undefined,
  labels: Labels | null | undefined,
): boolean {
  if (!selector) return false;
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}

/** The same pairs; nil and empty are the same. */
export function sameLabels(a: Labels | null | undefined, b: Labels | null | undefined): boolean {
  if (a === b) return true;
  let count = 0;
  for (const key in a) {
    if (b?.[key] !== a[key]) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}
