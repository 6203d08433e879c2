import { differingPlaces } from '#test/worlds/conformance/differing-places.ts';
import type { Run } from './runs.ts';
import type { Snapshot } from './snapshot.ts';
import type { Step } from './step.ts';

export interface Result {
  readonly what: string;
  /** Differences. An empty list is the expected result. */
  readonly lines: readonly string[];
  /** Row of docs/reference/parity.md that explains the difference. */
  readonly row?: string;
}

export function compareRuns(steps: readonly Step[], theirs: Run, ours: Run): readonly Result[] {
  return [
    ...steps.map((step, i) =>
      resultOf(step, differences(theirs.snapshots[i] ?? {}, ours.snapshots[i] ?? {})),
    ),
    { what: 'kube-controller-manager takes over what we wrote: nothing moves', lines: ours.takeOver },
    { what: 'we take over what kube-controller-manager wrote: nothing moves', lines: theirs.takeOver },
  ];
}

/** A row that explains nothing any more is a difference too. */
export function resultOf(
  { what, deliberate }: Pick<Step, 'what' | 'deliberate'>,
  found: readonly string[],
): Result {
  if (!deliberate) return { what, lines: found };
  const { row, of } = deliberate;
  const left = found.filter((line) => !line.startsWith(`${of} `));
  return {
    what,
    row,
    lines:
      left.length === found.length
        ? [...left, `${of} should differ (docs/reference/parity.md ${row})`]
        : left,
  };
}

export function differences(theirs: Snapshot, ours: Snapshot): readonly string[] {
  return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
    .sort()
    .flatMap((what) =>
      differingPlaces(theirs[what], ours[what]).map(
        ({ at, expected, got }) => `${what} ${at}: upstream ${cut(expected)}, ours ${cut(got)}`,
      ),
    );
}

const cut = (text: string): string => (text.length > 600 ? `${text.slice(0, 600)}…` : text);
