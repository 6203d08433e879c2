import type { Fields, Log } from './port.ts';

/**
 * Writes one JSON object a line: time, level, message, then `current` fields and the given ones. Errors
 * become name, message and stack, with their causes.
 */
export function jsonLog(
  write: (line: string) => void,
  now: () => number,
  fields: Fields = {},
  current: () => Fields = () => ({}),
): Log {
  const at =
    (level: string) =>
    (message: string, more: Fields = {}): void =>
      write(
        JSON.stringify(
          { time: new Date(now()).toISOString(), level, message, ...current(), ...fields, ...more },
          replacer,
        ),
      );
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => jsonLog(write, now, { ...fields, ...more }, current),
  };
}

function replacer(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause, ...rest } = value;
  return { ...rest, name, message, stack, ...(cause !== undefined && { cause }) };
}
