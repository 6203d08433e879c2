/** The measured figures of a run, printed as tables of docs/develop/benchmarks.md at the end. */
import { expect } from 'vitest';
import { type Answer, lost } from './clients.ts';

const tables = new Map<string, Map<string, Map<string, string>>>();

/** `row` and `column` are in the order of their first figure. */
export function figure(table: string, row: string, column: string, value: string): void {
  const rows = tables.get(table) ?? new Map<string, Map<string, string>>();
  tables.set(table, rows);
  const columns = rows.get(row) ?? new Map<string, string>();
  rows.set(row, columns);
  columns.set(column, value);
}

/** Notes how many requests were lost. */
export const lostOf = (table: string, row: string, column: string, answers: readonly Answer[]): void =>
  figure(table, row, column, `${lost(answers).length} of ${answers.length}`);

/** Throws unless all were answered. */
export function nothingLost(table: string, row: string, column: string, answers: readonly Answer[]): void {
  lostOf(table, row, column, answers);
  expect(lost(answers)).toEqual([]);
}

export function printFigures(): void {
  for (const [title, rows] of tables) {
    const columns = [...new Set([...rows.values()].flatMap((row) => [...row.keys()]))];
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const lines = [...rows].map(([row, values]) =>
      line([row, ...columns.map((column) => values.get(column) ?? '')]),
    );
    console.log(
      [title, '', line(['', ...columns]), line(['---', ...columns.map(() => '---')]), ...lines, ''].join(
        '\n',
      ),
    );
  }
  tables.clear();
}

/** `434 ms`, or `434 ms (201 to 512)` of several. */
export function ms(values: readonly (number | undefined)[]): string {
  const sorted = values.map((v) => v ?? 0).sort((a, b) => a - b);
  const round = (v: number | undefined): string => String(Math.round(v ?? 0));
  const middle = `${round(sorted[Math.floor((sorted.length - 1) / 2)])} ms`;
  return sorted.length > 1 ? `${middle} (${round(sorted[0])} to ${round(sorted.at(-1))})` : middle;
}
