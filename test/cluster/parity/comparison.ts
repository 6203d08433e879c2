import { differingPlaces } from '#test/conformance/differing-places.ts';
import type { Run } from './runs.ts';
import type { Snapshot } from './snapshot.ts';
import type { Step } from './step.ts';

export interface Result {
  readonly what: string;
  /** What differs; none is good. */
  readonly lines: readonly string[];
}

export function compareRuns(steps: readonly Step[], theirs: Run, ours: Run): readonly Result[] {
  return [
    ...steps.map(({ what }, i) => ({ what, lines: differences(theirs.snapshots[i] ?? {}, ours.snapshots[i] ?? {}) })),
    { what: 'kube-controller-manager takes over what we wrote: nothing moves', lines: ours.takeOver },
    { what: 'we take over what kube-controller-manager wrote: nothing moves', lines: theirs.takeOver },
  ];
}

export function differences(theirs: Snapshot, ours: Snapshot): readonly string[] {
  return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
    .sort()
    .flatMap((what) =>
      differingPlaces(theirs[what], ours[what]).map(({ at, expected, got }) => `${what} ${at}: upstream ${cut(expected)}, ours ${cut(got)}`),
    );
}

const cut = (text: string): string => (text.length > 600 ? `${text.slice(0, 600)}…` : text);
