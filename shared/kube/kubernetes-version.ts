/** Versions of Kubernetes as an API server's /version names them: v1.37.2, v1.33.5-eks-113cf36, v1.34.1+k3s1. */

/** The oldest minor version that `npm run test:versions` plays (docs/versions.md). */
export const oldestSupported = 'v1.31';

const form = /^v1\.(\d{1,3})\.\d{1,3}[-+.\w]{0,64}$/;

export const isKubernetesVersion = (value: unknown): value is string => typeof value === 'string' && form.test(value);

const minorOf = (version: string): number => Number(/^v1\.(\d+)/.exec(version)?.[1]);

/** Behaviour of the built-in controllers, by the first version that has it. Shadow mode counts no difference where an older version lacks it. */
const firstVersions = {
  /** Endpoints have the label endpoints.kubernetes.io/managed-by (DF-7). */
  endpointsManagedByLabel: 'v1.33',
} as const;

/** Returns true if the version has the behaviour, or is unknown. */
export const hasBehaviour = (version: string | undefined, behaviour: keyof typeof firstVersions): boolean =>
  !isKubernetesVersion(version) || minorOf(version) >= minorOf(firstVersions[behaviour]);

/** Returns why the hub does not support the version; undefined if it does, or if the version is unknown. */
export function unsupportedVersion(version: string | undefined): string | undefined {
  if (version === undefined || !isKubernetesVersion(version) || minorOf(version) >= minorOf(oldestSupported)) return undefined;
  return `Kubernetes ${version} is older than ${oldestSupported}, the oldest that is tested`;
}
