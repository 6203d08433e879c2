import { expect, it } from 'vitest';
import { spanMs, timeMs } from '#infra/cli/terminal/when.ts';

const now = Date.parse('2026-03-01T12:30:00Z');
const at = (text: string) => new Date(timeMs('--at', text, now)).toISOString();

it('a time is read as RFC 3339, as a time of day before now, and as a span from now back', () => {
  expect(at('2026-02-28T14:03:00Z')).toBe('2026-02-28T14:03:00.000Z');
  expect(at('2026-02-28T14:03+01:00')).toBe('2026-02-28T13:03:00.000Z');
  expect(at('12:03')).toBe('2026-03-01T12:03:00.000Z');
  expect(at('14:03:07.250')).toBe('2026-02-28T14:03:07.250Z');
  expect(at('90s')).toBe('2026-03-01T12:28:30.000Z');
  expect(spanMs('--since', '2h')).toBe(7_200_000);
});

it.each(['yesterday', '25:00', '2026-02-28', '2026-02-30T00:00:00', '-5m', ''])(
  '%j is refused with the allowed values',
  (text) => {
    expect(() => at(text)).toThrow(
      /--at .*a time as 2026-03-01T14:03:00Z, 14:03 \(UTC\) or 20m \(ago\) is needed/,
    );
  },
);

it.each(['2', 'h', '2 h', '1.5h', '2w'])('a span of %j is refused with the allowed values', (text) => {
  expect(() => spanMs('--since', text)).toThrow(
    `--since ${text}: a number with s, m, h or d is needed, as 30m or 2h`,
  );
});
