/** Lines of answers at the width of a terminal. */
import { describe, expect, it } from 'vitest';
import { wrapped } from '#infra/cli/terminal/line-wrap.ts';

describe('a line that is too long for the terminal', () => {
  it('a line that fits stays as it is', () => {
    expect(wrapped('  two words', 11)).toEqual(['  two words']);
  });

  it('continued lines are indented, and no word is broken', () => {
    expect(wrapped('  pod web-1: changed from ready to not ready', 20)).toEqual([
      '  pod web-1: changed',
      '    from ready to',
      '    not ready',
    ]);
  });

  it('continued lines of a label begin below its text', () => {
    expect(wrapped('  Why     the Service has a selector', 30)).toEqual([
      '  Why     the Service has a',
      '          selector',
    ]);
  });

  it('a label that takes more than half of the width does not move the text', () => {
    expect(wrapped('  A long label of a fact  text that goes on', 30)).toEqual([
      '  A long label of a fact  text',
      '    that goes on',
    ]);
  });

  it('a word wider than the terminal stays whole', () => {
    expect(wrapped('see https://example.com/a/long/address for more', 12)).toEqual([
      'see',
      '  https://example.com/a/long/address',
      '  for more',
    ]);
  });

  it.each([20, 40, 60, 80])('at %i columns the words stay in their order, and each line fits', (width) => {
    const text =
      '  10.244.0.108 (pod web-4cf92) in IPv4 slices: gone since 2026-11-24T19:17:54Z (5 s before): it was deleted';
    const lines = wrapped(text, width);
    expect(lines.join(' ').split(/ +/).join(' ')).toBe(text.split(/ +/).join(' '));
    for (const line of lines) if (line.trim().includes(' ')) expect(line.length).toBeLessThanOrEqual(width);
  });
});
