/**
 * Additions of a platform to the relay's pod, and the relay's own AWS credentials. Objects as in the
 * Kubernetes API.
 */
import { relayTokenAudience } from './relay-names.ts';

/** A part of a pod's specification, as it will be sent. */
export interface PodPart {
  readonly name: string;
  readonly [field: string]: unknown;
}

export interface PodExtras {
  readonly extraEnv: readonly PodPart[];
  readonly extraVolumes: readonly PodPart[];
  readonly extraVolumeMounts: readonly PodPart[];
  /** Containers beside the relay. */
  readonly sidecars: readonly PodPart[];
}

export const noExtras: PodExtras = { extraEnv: [], extraVolumes: [], extraVolumeMounts: [], sidecars: [] };

/**
 * A class of every cluster. It is also effective outside kube-system, unless a quota limits the class
 * (docs/operate/getting-started.md).
 */
export const criticalPriority = 'system-cluster-critical';

export const bundleVolume = 'bundle';
export const bundlePath = '/relay';
export const tokenVolume = 'aws-token';
const tokenPath = '/var/run/secrets/fleet-endpoints/aws';

/**
 * A token of the relay's ServiceAccount that AWS STS exchanges for the role, and the two variables by which
 * any AWS SDK finds it. EKS's webhook adds the same for an annotation. Self-managed control planes lack that
 * webhook.
 */
export const webIdentity = (roleArn: string): Omit<PodExtras, 'sidecars'> => ({
  extraEnv: [
    { name: 'AWS_ROLE_ARN', value: roleArn },
    { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: `${tokenPath}/token` },
  ],
  extraVolumes: [
    {
      name: tokenVolume,
      projected: {
        sources: [
          { serviceAccountToken: { audience: relayTokenAudience, expirationSeconds: 3600, path: 'token' } },
        ],
      },
    },
  ],
  extraVolumeMounts: [{ name: tokenVolume, mountPath: tokenPath, readOnly: true }],
});

/** Where the pod's own mounts are: nothing else may be. */
export const takenPaths: readonly string[] = [
  bundlePath,
  tokenPath,
  '/var/run/secrets/kubernetes.io/serviceaccount',
];
