/** How alike two names are: a slip of the keyboard, the case, or a part of the other. */

export function isAlike(a: string, b: string): boolean {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  if (x === y) return true;
  const longer = Math.max(x.length, y.length);
  const shorter = Math.min(x.length, y.length);
  if (shorter >= 3 && (x.startsWith(y) || y.startsWith(x) || x.endsWith(y) || y.endsWith(x))) return true;
  return distance(x, y) <= (longer < 4 ? 1 : 2) && shorter > 1;
}

/** Insertions, deletions, substitutions and swaps of neighbours that make one of the other. */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] ?? 0) + 1
          : substituted;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, substituted, swapped));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
