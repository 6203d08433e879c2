/** Texts about the support of a Kubernetes version. */
import {
  type FeatureName,
  features,
  hasFeature,
  isKubernetesVersion,
  minorOf,
} from '#shared/kube/kubernetes-version.ts';

/** The oldest minor version that `npm run test:versions` plays (docs/operate/versions.md). */
export const oldestSupported = 'v1.31';

export const lackedBy = (version: string | undefined): readonly FeatureName[] =>
  (Object.keys(features) as FeatureName[]).filter((name) => !hasFeature(version, name));

/**
 * Returns what shadow mode does not count as a difference in a cluster of this version; undefined if it
 * counts everything.
 */
export function comparedAsVersion(version: string | undefined): string | undefined {
  const names = lackedBy(version).filter((name) => 'isComparedWithout' in features[name]);
  return names.length === 0
    ? undefined
    : `compared as v1.${minorOf(version ?? '')} does: no ${names.map((name) => features[name].what).join(', no ')}`;
}

/** Returns why the hub does not support the version; undefined if it does, or if the version is unknown. */
export function unsupportedVersion(version: string | undefined): string | undefined {
  if (version === undefined || !isKubernetesVersion(version) || minorOf(version) >= minorOf(oldestSupported))
    return undefined;
  return `Kubernetes ${version} is older than ${oldestSupported}, the oldest that is tested`;
}
