/**
 * Versions of Kubernetes as an API server's /version names them: v1.37.2, v1.33.5-eks-113cf36, v1.34.1+k3s1.
 */

const form = /^v1\.(\d{1,3})\.\d{1,3}[-+.\w]{0,64}$/;

export const isKubernetesVersion = (value: unknown): value is string =>
  typeof value === 'string' && form.test(value);

export const minorOf = (version: string): number => Number(/^v1\.(\d+)/.exec(version)?.[1]);

export interface Feature {
  readonly what: string;
  /** The first minor version that has it switched on. */
  readonly from: string;
  /** Statement of docs/reference/parity.md, for a feature of the controllers. */
  readonly statement?: string;
  /** Shadow mode expects outputs without it from an older version. */
  readonly isComparedWithout?: true;
}

/**
 * Features of the built-in controllers or the API server that an older version lacks. Each has a row in
 * docs/operate/versions.md.
 */
export const features = {
  sidecarPorts: {
    what: 'named target port of a restartable init container in Endpoints',
    from: 'v1.32',
    statement: 'DF-15',
    isComparedWithout: true,
  },
  sidecarSlicePorts: {
    what: 'named target port of a restartable init container in slices',
    from: 'v1.33',
    statement: 'DF-15',
    isComparedWithout: true,
  },
  managedByLabel: {
    what: 'label endpoints.kubernetes.io/managed-by of Endpoints',
    from: 'v1.33',
    statement: 'DF-7',
    isComparedWithout: true,
  },
  serviceCidrs: { what: 'ServiceCIDR, which has the addresses that a ServiceImport may have', from: 'v1.33' },
  preferSame: {
    what: 'trafficDistribution PreferSameZone and PreferSameNode',
    from: 'v1.34',
    statement: 'DF-20',
  },
  orderByFnv: { what: 'order of ports and subsets by FNV hashes', from: 'v1.35', statement: 'DF-14' },
  portlessSlices: { what: 'comparison of slices without ports', from: 'v1.36', statement: 'DF-18' },
  eligiblePods: {
    what: 'wake-ups by pods that can be endpoints alone, and by a pod that stops being one',
    from: 'v1.38',
    statement: 'DF-30',
  },
  placeholderOwner: {
    what: 'placeholder slice that follows the uid of its Service',
    from: 'v1.38',
    statement: 'DF-28',
    isComparedWithout: true,
  },
} as const satisfies { readonly [name: string]: Feature };

export type FeatureName = keyof typeof features;

/** Returns true if the version has the feature, or is unknown. */
export const hasFeature = (version: string | undefined, name: FeatureName): boolean =>
  !isKubernetesVersion(version) || minorOf(version) >= minorOf(features[name].from);
