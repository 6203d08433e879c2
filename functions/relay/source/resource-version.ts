/** resourceVersions as the relay compares them: numbers as text, or the cluster cannot be served. */
import { isResourceVersion } from '#shared/kube/resource-version-text.ts';

/** The cluster cannot be served: the order of its versions is unknown, because they are not numbers. */
export class UnorderedVersions extends Error {
  override readonly name = 'UnorderedVersions';
}

export function checkVersion(resourceVersion: unknown): string {
  if (isResourceVersion(resourceVersion)) return resourceVersion;
  throw new UnorderedVersions(
    `resourceVersion ${JSON.stringify(resourceVersion)} is not a number of 1 to 39 digits: this API server cannot be served`,
  );
}

/**
 * Is `a` the newer of two versions of one kind? Text of up to 39 digits, so never compared as JavaScript's
 * numbers.
 */
export const isNewer = (a: string, b: string): boolean =>
  a.length === b.length ? a > b : a.length > b.length;
