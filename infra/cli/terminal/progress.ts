/**
 * How far long work is: on a terminal a bar that is drawn over and over, elsewhere a line now and then, if
 * there is news.
 */
import { printable } from './printable.ts';

export interface Progress {
  /** Without a total the count alone is shown. */
  update(done: number, total?: number, what?: string): void;
  /** Takes the bar away, so that a line can be printed; the next update draws it again. */
  clear(): void;
  end(): void;
}

export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const width = 24;
const drawnEveryMs = 100;
const printedEveryMs = 10_000;
const erase = '\r\x1b[2K';

/** `redriving ██████░░░░░░ 12 of 40 (30 %) messages` */
export function progressText(label: string, done: number, total?: number, what = ''): string {
  if (total === undefined || total <= 0) return `${label}: ${done} ${what}`.trimEnd();
  const share = Math.min(1, done / total);
  const full = Math.floor(share * width);
  return `${label} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${done} of ${total} (${Math.floor(share * 100)} %) ${what}`.trimEnd();
}

/** The same for a log: without the bar. */
export const progressLine = (label: string, done: number, total?: number, what = ''): string =>
  total === undefined || total <= 0
    ? progressText(label, done, total, what)
    : `${label}: ${done} of ${total} ${what}`.trimEnd();

/** On standard error: what a command prints stays readable by another program. */
export function progress(
  label: string,
  out: ProgressOutput = process.stderr,
  now: () => number = Date.now,
): Progress {
  let printedAt = now();
  let isDrawn = false;
  const clear = (): void => {
    if (isDrawn) out.write(erase);
    isDrawn = false;
  };
  return {
    update(done, total, what) {
      const every = out.isTTY ? drawnEveryMs : printedEveryMs;
      if (now() - printedAt < every && !(out.isTTY && done === total)) return;
      printedAt = now();
      if (out.isTTY) {
        // A line that wraps could not be erased.
        out.write(
          erase + printable(progressText(label, done, total, what)).slice(0, (out.columns || 80) - 1),
        );
        isDrawn = true;
      } else out.write(`${printable(progressLine(label, done, total, what))}\n`);
    },
    clear,
    end: clear,
  };
}
