/** Times and spans as a person types them. */
import { UsageError } from './usage-error.ts';

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** "90s", "30m", "2h", "3d" as ms. */
export function spanMs(option: string, text: string): number {
  const [, count, unit] = text.match(/^(\d{1,6})([smhd])$/) ?? [];
  if (count === undefined)
    throw new UsageError(`${option} ${text}: a number with s, m, h or d is needed, as 30m or 2h`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/**
 * A time by RFC 3339, a time of day (UTC, the last one before now), or a span: so long ago. As ms since the
 * epoch.
 */
export function timeMs(option: string, text: string, nowMs: number): number {
  if (/^\d+[smhd]$/.test(text)) return nowMs - spanMs(option, text);
  if (/^\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(text)) {
    const today = Date.parse(`${new Date(nowMs).toISOString().slice(0, 10)}T${text}Z`);
    if (!Number.isNaN(today)) return today <= nowMs ? today : today - unitMs.d;
  }
  const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(
      `${option} ${text}: a time as 2026-03-01T14:03:00Z, 14:03 (UTC) or 20m (ago) is needed`,
    );
  return time;
}
