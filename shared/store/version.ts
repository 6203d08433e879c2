import { isResourceVersion } from '#shared/kube/resource-version-text.ts';

/**
 * Versions order everything the snapshot holds of one kind in one cluster: the incarnation, then the resourceVersion.
 *
 * Text, never a number: resourceVersions may have 39 digits (KEP-5504). Their count of digits goes before them, so that comparing
 * the text compares the numbers, at 15 bytes where padding to equal length takes 45.
 */
export type Version = string;

/** No version: smaller than every other. */
export const noVersion: Version = '';

/** Throws for a text that is no resourceVersion of a conforming API server. */
export function versionOf(incarnation: number, resourceVersion: string): Version {
  if (!isResourceVersion(resourceVersion)) throw new RangeError(`not a resourceVersion (1 to 39 digits): ${JSON.stringify(resourceVersion)}`);
  return String(incarnation).padStart(6, '0') + String(resourceVersion.length).padStart(2, '0') + resourceVersion;
}

export const incarnationOf = (version: Version): number => Number(version.slice(0, 6));

export const resourceVersionOf = (version: Version): string => version.slice(8);
