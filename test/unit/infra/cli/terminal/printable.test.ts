/**
 * Names in messages and answers of clusters may be any text, which must not control the reader's terminal.
 */
import { expect, it, vi } from 'vitest';
import { printable, say } from '#infra/cli/terminal/printable.ts';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { childLines } from '#infra/local/processes/log-lines.ts';
import { terminal } from '#infra/local/processes/terminal.ts';

const evil = '\u001b]0;owned\u0007\u001b[2Jx\r\nPod fine\u009b31m\u007f\u202eeslaf\u2028';
const shown = '\\u001b]0;owned\\u0007\\u001b[2Jx\\r\\nPod fine\\u009b31m\\u007f\\u202eeslaf\\u2028';
const speaks = /[\p{Cc}\u2028\u202e]/u;

it('control characters, ends of lines and marks of direction are spelt out, and all other text stays', () => {
  expect(printable(evil)).toBe(shown);
  const plain = 'pod “web-1” → läuft, 日本 👍🏽 a\u00a0b';
  expect(printable(plain)).toBe(plain);
});

it('one element is one line on standard output', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  say('a', evil);
  expect(log.mock.calls).toEqual([['a'], [shown]]);
  log.mockRestore();
});

it.each([true, false])(
  'a local run prints nothing but its own escape sequences, on a terminal (%s)',
  (isTTY) => {
    let text = '';
    const { print, live } = terminal({ isTTY, columns: 200, write: (more: string) => (text += more) });
    const line = childLines({ store: metricsStore(), print, now: () => 0, verbose: true });
    line(
      'ingest',
      JSON.stringify({
        level: 'warn',
        message: 'message quarantined',
        cluster: 'c',
        service: evil,
        reason: evil,
      }),
    );
    line(
      'sync',
      JSON.stringify({
        level: 'info',
        message: 'shadow difference',
        cluster: 'c',
        namespace: 'ns',
        service: evil,
        differences: [evil],
      }),
    );
    line('relay', `Error: ${evil}`);
    live(evil);
    expect(text).toContain('owned');
    expect(text.replaceAll('\r\u001b[2K', '').replaceAll('\n', '')).not.toMatch(speaks);
  },
);
