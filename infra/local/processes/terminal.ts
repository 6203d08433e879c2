import { printable } from '#infra/cli/terminal/printable.ts';

/** The output of a run: lines, and on a terminal a live line below them that is redrawn. */
export interface Terminal {
  print(line: string): void;
  /** Replaces the live line. Does nothing if the output is not a terminal. */
  live(line: string): void;
  readonly isLive: boolean;
}

export function terminal(out: {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}): Terminal {
  if (!out.isTTY)
    return { isLive: false, print: (line) => void out.write(`${printable(line)}\n`), live() {} };
  const erase = '\r\x1b[2K';
  let shown = '';
  return {
    isLive: true,
    print: (line) => void out.write(`${erase}${printable(line)}\n${shown}`),
    live(line) {
      // The line is cut, because a wrapped line could not be erased.
      const next = printable(line).slice(0, (out.columns || 80) - 1);
      if (next !== shown) out.write(erase + next);
      shown = next;
    },
  };
}
