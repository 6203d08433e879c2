import { printable } from '#infra/cli/printable.ts';

/** Where a run speaks to its person: lines, and on a terminal one more that is drawn over and over below them. */
export interface Terminal {
  print(line: string): void;
  /** Replaces the live line; elsewhere than on a terminal nothing. */
  live(line: string): void;
  readonly isLive: boolean;
}

export function terminal(out: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown }): Terminal {
  if (!out.isTTY) return { isLive: false, print: (line) => void out.write(`${printable(line)}\n`), live() {} };
  const erase = '\r\x1b[2K';
  let shown = '';
  return {
    isLive: true,
    print: (line) => void out.write(`${erase}${printable(line)}\n${shown}`),
    live(line) {
      // A line that wraps could not be erased.
      const next = printable(line).slice(0, (out.columns || 80) - 1);
      if (next !== shown) out.write(erase + next);
      shown = next;
    },
  };
}
