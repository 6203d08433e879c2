/** Lines longer than a terminal is wide, broken between words. */

/** Number of further spaces at the beginning of a continued line. */
const hanging = 2;

/**
 * Continued lines begin below the text after the first gap of two spaces, as in a table of labels. Without
 * one they begin two spaces further in.
 */
export function wrapped(line: string, width: number): readonly string[] {
  if (line.length <= width) return [line];
  const indent = /^ */.exec(line)?.[0].length ?? 0;
  const afterGap = /^ *\S+(?: \S+)* {2,}/.exec(line)?.[0].length ?? width;
  const margin = ' '.repeat(
    afterGap <= width / 2 ? afterGap : Math.min(indent + hanging, Math.floor(width / 2)),
  );
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    // A word wider than the terminal stays whole, so that it can be copied.
    const last = rest.lastIndexOf(' ', width);
    const end = last > margin.length ? last : rest.indexOf(' ', width);
    if (end < 0) break;
    lines.push(rest.slice(0, end).trimEnd());
    rest = margin + rest.slice(end).trimStart();
  }
  return [...lines, rest];
}
