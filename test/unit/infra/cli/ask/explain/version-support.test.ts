import { expect, it } from 'vitest';
import { comparedAsVersion, lackedBy, unsupportedVersion } from '#infra/cli/ask/explain/version-support.ts';

it('a version below the oldest tested one is unsupported, and an unknown one is not reported', () => {
  expect(unsupportedVersion('v1.30.14')).toBe(
    'Kubernetes v1.30.14 is older than v1.31, the oldest that is tested',
  );
  for (const version of ['v1.31.0', 'v1.37.2', 'v1.112.0', undefined])
    expect(unsupportedVersion(version)).toBeUndefined();
});

const since138 = ['eligiblePods', 'placeholderOwner'] as const;

it.each([
  [
    'v1.31.0',
    [
      'sidecarPorts',
      'sidecarSlicePorts',
      'managedByLabel',
      'serviceCidrs',
      'preferSame',
      'orderByFnv',
      'portlessSlices',
      ...since138,
    ],
  ],
  [
    'v1.32.9-eks-1',
    [
      'sidecarSlicePorts',
      'managedByLabel',
      'serviceCidrs',
      'preferSame',
      'orderByFnv',
      'portlessSlices',
      ...since138,
    ],
  ],
  ['v1.34.4', ['orderByFnv', 'portlessSlices', ...since138]],
  ['v1.37.2', since138],
  ['v1.38.0-beta.0', []],
  [undefined, []],
])('a cluster of %s lacks %j', (version, expected) => {
  expect(lackedBy(version)).toEqual(expected);
});

it('shadow mode compares as an older version does', () => {
  expect(comparedAsVersion('v1.32.9-eks-1')).toBe(
    'compared as v1.32 does: no named target port of a restartable init container in slices, no label endpoints.kubernetes.io/managed-by of Endpoints, no placeholder slice that follows the uid of its Service',
  );
  expect(comparedAsVersion('v1.38.0')).toBeUndefined();
});
