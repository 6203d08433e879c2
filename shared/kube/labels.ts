export type Labels = { readonly [key: string]: string };

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
