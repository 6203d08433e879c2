/** Prints an answer as lines for people, or as data for programs. */
import { styleText } from 'node:util';
import { stringify } from 'yaml';
import { wrapped } from './line-wrap.ts';
import { printable } from './printable.ts';

export type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';

export interface Printing {
  /** Undefined: lines for people. */
  readonly format?: OutputFormat | undefined;
  readonly color: 'auto' | 'always' | 'never';
  /** Times of lines for people are in the zone of this machine, otherwise in UTC. */
  readonly isLocalTime: boolean;
}

export type Style = 'good' | 'warning' | 'bad' | 'title' | 'faint';
export type Line = string | { readonly text: string; readonly style: Style };

const formats = { good: 'green', warning: 'yellow', bad: 'red', title: 'bold', faint: 'dim' } as const;

export const linesAsData = (data: unknown, format: 'json' | 'yaml'): readonly string[] =>
  (format === 'json' ? JSON.stringify(data, null, 2) : stringify(data, { lineWidth: 0 }).trimEnd()).split(
    '\n',
  );

/** Lines are wrapped for people at a terminal. A pipe gets whole lines, and data stays as it is. */
export function printLines(lines: readonly Line[], { format, color, isLocalTime }: Printing): void {
  const { isTTY, columns: terminalWidth } = process.stdout;
  const width = isTTY && format !== 'json' && format !== 'yaml' ? terminalWidth : undefined;
  for (const line of lines) console.log(rendered(line, { color, isLocalTime, width }));
}

/** Returns a function that prints nothing if `known` is as at its last call. For people it tells the time. */
export function printNews(printing: Printing) {
  let last = '';
  return (known: unknown, nowMs: number, lines: () => readonly Line[]): void => {
    const text = JSON.stringify(known);
    if (text === last) return;
    if (last !== '' && printing.format === undefined)
      printLines(['', { text: new Date(nowMs).toISOString(), style: 'faint' }], printing);
    last = text;
    printLines(lines(), printing);
  };
}

/** Text of clusters is escaped before it gets colours. */
export function rendered(
  line: Line,
  {
    color,
    isLocalTime,
    width,
  }: Pick<Printing, 'color' | 'isLocalTime'> & { readonly width?: number | undefined },
): string {
  const { text, style } = typeof line === 'string' ? { text: line, style: undefined } : line;
  const whole = printable(isLocalTime ? withLocalTimes(text) : text);
  const safe = width === undefined ? whole : wrapped(whole, width).join('\n');
  if (style === undefined || color === 'never') return safe;
  // With `auto` the stream decides, by the terminal and NO_COLOR.
  const options = color === 'always' ? { validateStream: false } : { stream: process.stdout };
  return styleText(formats[style], safe, options);
}

const utc = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?Z/g;

/** Times by RFC 3339 with the offset of the machine's zone, such as 2026-03-01T15:00:00.123+01:00. */
function withLocalTimes(text: string): string {
  return text.replace(utc, (time, _seconds, fraction = '') => {
    const at = new Date(time);
    const offset = -at.getTimezoneOffset();
    const shifted = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19);
    const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
      String(n).padStart(2, '0'),
    );
    return `${shifted}${fraction}${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
  });
}

/** Pads each column but the last. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
