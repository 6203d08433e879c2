import { isResourceVersion } from '#shared/kube/resource-version-text.ts';

/**
 * Versions order all records of one kind in one cluster: by incarnation, then by resourceVersion.
 *
 * A version is text, because resourceVersions may have 39 digits (KEP-5504). The number of digits precedes
 * them, so comparing texts compares the numbers. This takes 15 bytes, while padding to equal length would
 * take 45.
 */
export type Version = string;

/** The version of an absent record, which is smaller than any other. */
export const noVersion: Version = '';

/** Throws if the text is not a resourceVersion of a conforming API server. */
export function versionOf(incarnation: number, resourceVersion: string): Version {
  if (!isResourceVersion(resourceVersion))
    throw new RangeError(`not a resourceVersion (1 to 39 digits): ${JSON.stringify(resourceVersion)}`);
  return (
    String(incarnation).padStart(6, '0') + String(resourceVersion.length).padStart(2, '0') + resourceVersion
  );
}

export const incarnationOf = (version: Version): number => Number(version.slice(0, 6));

export const resourceVersionOf = (version: Version): string => version.slice(8);
