/**
 * The Kubernetes versions that `npm run test:versions` plays, and the differences that its script must see
 * because an older version lacks a feature.
 */
import { lackedBy } from '#infra/cli/ask/explain/version-support.ts';
import { type Feature, type FeatureName, features } from '#shared/kube/kubernetes-version.ts';
import type { Step } from '#test/cluster/parity/step.ts';

export const versions = [
  'v1.31.0',
  'v1.32.2',
  'v1.33.13',
  'v1.34.4',
  'v1.35.4',
  'v1.36.3',
  'v1.37.2',
] as const;

interface Shown {
  /** Steps of the parity script that an API server without the feature refuses. */
  readonly steps?: readonly string[];
  /**
   * Differences from the version's own controllers: the step, a colon, and a line of
   * test/cluster/parity/comparison.ts or take-over.ts.
   */
  readonly explains?: RegExp;
}

const shown: { readonly [name in FeatureName]: Shown } = {
  sidecarPorts: { explains: /Endpoints parity\/side[ -]/ },
  sidecarSlicePorts: { explains: /EndpointSlices? parity\/side[ -]/ },
  // A takeover writes each Endpoints once, with another trigger time.
  managedByLabel: {
    explains:
      /: Endpoints \S+ .*managed-by|takes? over .*: Endpoints \S+ \.metadata\.annotations\b.*last-change-trigger-time/,
  },
  serviceCidrs: {},
  preferSame: { steps: ['the same zone', 'the same node'] },
  orderByFnv: {
    explains:
      /^(a port more|three protocols and an application protocol): .* parity\/ports \.(subsets\.\d+\.ports\.|IPv4 \[)/,
  },
  eligiblePods: {},
  placeholderOwner: {},
  // Each sync of an older controller writes the slice again: without its trigger time, and in another order.
  portlessSlices: {
    explains:
      / parity\/peers \.(written|IPv4 without ports\.triggerTimes)|takes over .*: EndpointSlice parity\/peers-\w+ /,
  },
};

/** The steps that the version's API server accepts. */
export function playable(version: string, steps: readonly Step[]): readonly Step[] {
  const refused = new Set(lackedBy(version).flatMap((name) => shown[name].steps ?? []));
  return steps.filter(({ what }) => !refused.has(what));
}

/**
 * The statement of the feature whose absence in the version explains the difference, a step with its line.
 */
export function explanationOf(version: string, difference: string): string | undefined {
  const name = lackedBy(version).find((lacked) => shown[lacked].explains?.test(difference));
  const feature: Feature | undefined = name && features[name];
  return feature && (feature.statement ?? feature.what);
}

/** An endpoints controller that never writes Endpoints again after an update that changed nothing (DF-8). */
export const getsStuck = (version: string): boolean => /^v1\.31\.[01]$/.test(version);
