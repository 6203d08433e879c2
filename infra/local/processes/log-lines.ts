/**
 * The processes' output for people: metrics go to the store, logs become short lines, repetitions are left
 * out.
 */
import type { MetricsStore } from '#infra/console/metrics-store.ts';

export interface LineOptions {
  readonly store: MetricsStore;
  readonly print: (line: string) => void;
  readonly now: () => number;
  /** Prints lines below warnings, too. */
  readonly verbose: boolean;
}

/** Number of lines shown in ten seconds for the same message of the same process. */
const shownPerWindow = 3;
const windowMs = 10_000;
/** Number of differences shown for one service. */
const shownDifferences = 10;

export function childLines({
  store,
  print,
  now,
  verbose,
}: LineOptions): (child: string, line: string) => void {
  const seen = new Map<string, { sinceMs: number; count: number }>();

  function isRepetition(key: string): boolean {
    const entry = seen.get(key);
    if (!entry || now() - entry.sinceMs > windowMs) {
      if (entry && entry.count > shownPerWindow) print(`${key} (and ${entry.count - shownPerWindow} more)`);
      seen.set(key, { sinceMs: now(), count: 1 });
      return false;
    }
    return ++entry.count > shownPerWindow;
  }

  return (child, line) => {
    const fields = parseLogLine(line);
    if (!fields) {
      if (line.trim() !== '' && !isRepetition(`${child}: ${line}`)) print(`${child}: ${line}`);
      return;
    }
    if (store.add(fields)) return;
    const {
      time: _time,
      level,
      message,
      stage: _stage,
      requestId: _requestId,
      coldStart: _coldStart,
      ...rest
    } = fields;
    if (message === 'shadow difference') for (const each of differenceLines(rest)) print(each);
    else if (verbose || level === 'warn' || level === 'error') {
      if (!isRepetition(`${child}: ${message}`)) print(`${child}: ${message} ${describe(rest)}`.trimEnd());
    }
  };
}

function differenceLines({
  differences,
  ...where
}: {
  readonly [field: string]: unknown;
}): readonly string[] {
  const all = Array.isArray(differences) ? (differences as readonly unknown[]) : [];
  return [
    `difference: ${describe(where)}`,
    ...all.slice(0, shownDifferences).map((difference) => `  ${text(difference)}`),
    ...(all.length > shownDifferences ? [`  and ${all.length - shownDifferences} more`] : []),
  ];
}

/** Parses a child's line of structured log. Returns undefined for any other line. */
export function parseLogLine(line: string): { readonly [field: string]: unknown } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Returns "cluster namespace/service", then the other fields. */
function describe({
  cluster,
  namespace,
  ns = namespace,
  service,
  name = service,
  ...rest
}: {
  readonly [field: string]: unknown;
}): string {
  const where = [cluster, ns && name ? `${ns}/${name}` : (ns ?? name)].filter(Boolean).join(' ');
  const { reason, error } = rest;
  const message = (error as { readonly message?: unknown } | undefined)?.message;
  // The reason of an error often is its message.
  const isTwice = typeof reason === 'string' && typeof message === 'string' && reason.includes(message);
  const others = Object.entries(rest).flatMap(([field, value]) =>
    isTwice && field === 'reason' ? [] : `${field}=${text(value)}`,
  );
  return [where, ...others].filter((part) => part !== '').join(' ');
}

function text(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { message, cause } = value as { readonly message?: unknown; readonly cause?: unknown };
  if (typeof message !== 'string') return JSON.stringify(value);
  const because = (cause as { readonly message?: unknown } | undefined)?.message;
  // Many errors already include their cause.
  return JSON.stringify(
    typeof because !== 'string' || message.includes(because) ? message : `${message}: ${because}`,
  );
}
