export interface DifferingPlace {
  /** As in `.labels.app`; `.` is the whole. */
  readonly at: string;
  /** JSON, or `nothing`. */
  readonly expected: string;
  readonly got: string;
}

/** Only what differs between two values that JSON can hold, place by place. */
export function differingPlaces(expected: unknown, got: unknown, at = ''): readonly DifferingPlace[] {
  const [e, g] = [JSON.stringify(expected), JSON.stringify(got)];
  if (e === g) return [];
  const isMap = (v: unknown): v is { readonly [key: string]: unknown } => typeof v === 'object' && v !== null;
  if (!isMap(expected) || !isMap(got) || Array.isArray(expected) !== Array.isArray(got))
    return [{ at: at || '.', expected: e ?? 'nothing', got: g ?? 'nothing' }];
  return [...new Set([...Object.keys(expected), ...Object.keys(got)])].flatMap((key) =>
    differingPlaces(expected[key], got[key], `${at}.${key}`),
  );
}
