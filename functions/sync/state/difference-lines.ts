/** Bounds of a list of differences: it is saved in one item of at most 400 KB and written as one line of a log. */
const mostShown = 100;
const longestLine = 500;
const mostBytes = 100 * 1024;

export function limited(differences: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const line of differences.slice(0, mostShown)) {
    const short = line.length <= longestLine ? line : `${line.slice(0, longestLine)} … (${line.length} characters)`;
    bytes += Buffer.byteLength(short);
    if (bytes > mostBytes) break;
    lines.push(short);
  }
  return lines.length === differences.length ? lines : [...lines, `and ${differences.length - lines.length} more`];
}
