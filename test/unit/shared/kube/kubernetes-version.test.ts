import { expect, it } from 'vitest';
import { isKubernetesVersion } from '#shared/kube/kubernetes-version.ts';

it.each(['v1.37.2', 'v1.33.5-eks-113cf36', 'v1.34.1+k3s1', 'v1.36.0-alpha.1.12+3c5a'])(
  '%s is a version of Kubernetes',
  (text) => {
    expect(isKubernetesVersion(text)).toBe(true);
  },
);

it.each([
  '',
  '1.37.2',
  'v1.37',
  'v2.0.0',
  'v1.37.2 ',
  'v1.37.2<b>',
  `v1.37.2-${'x'.repeat(65)}`,
  7,
  undefined,
])('%j is no version of Kubernetes', (text) => {
  expect(isKubernetesVersion(text)).toBe(false);
});
