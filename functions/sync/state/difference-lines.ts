/**
 * Bounds of a list of differences: it is saved in one item of at most 400 KB and written as one line of a
 * log.
 */
const maxShown = 100;
const maxLineLength = 500;
const maxBytes = 100 * 1024;

export function limited(differences: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const line of differences.slice(0, maxShown)) {
    const short =
      line.length <= maxLineLength ? line : `${line.slice(0, maxLineLength)} … (${line.length} characters)`;
    bytes += Buffer.byteLength(short);
    if (bytes > maxBytes) break;
    lines.push(short);
  }
  return lines.length === differences.length
    ? lines
    : [...lines, `and ${differences.length - lines.length} more`];
}
