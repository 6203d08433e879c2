import { describe, expect, it } from 'vitest';
import { type ServiceSelector, servicesForPod } from '#shared/controllers/membership/services-for-pod.ts';
import { service } from '#test/unit/shared/kube/objects.ts';

/** One service for each letter, which selects the label of that letter. */
const letters = (text: string): ServiceSelector[] =>
  [...text].map((name) => ({ metadata: { name }, spec: { selector: { [name]: 'x' } } }));
const labelled = (text: string) => Object.fromEntries([...text].map((name) => [name, 'x']));

/** Names of the services that a pod's move from one set of labels to another wakes. */
const woken = (old: string, now: string, podChanged: boolean) =>
  servicesForPod({ labels: labelled(now), oldLabels: labelled(old), podChanged }, letters('abcdef')).join('');

describe('servicesForPod [UT-50 TestDetermineNeededServiceUpdates]', () => {
  it.for<[name: string, old: string, now: string, difference: string, union: string]>([
    ['no change', 'abc', 'abc', '', 'abc'],
    ['all replaced', 'ab', 'cd', 'abcd', 'abcd'],
    ['all removed', 'abc', '', 'abc', 'abc'],
    ['none to some', '', 'abc', 'abc', 'abc'],
    ['one removed, one added, two kept', 'abc', 'bcd', 'ad', 'abcd'],
    ['none', '', '', '', ''],
  ])(
    '%s services that gained or lost the pod, or all if the pod changed too',
    ([_, old, now, difference, union]) => {
      expect(woken(old, now, false)).toBe(difference);
      expect(woken(old, now, true)).toBe(union);
    },
  );

  it.each([
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
    ['x', ''],
    ['ac', 'ac'],
  ])(
    'a deleted pod with label %s wakes its own services: "%s" [UT-53 TestGetPodServicesToUpdate]',
    (labels, expected) => {
      expect(servicesForPod({ labels: labelled(labels), podChanged: false }, letters('abc')).join('')).toBe(
        expected,
      );
    },
  );

  it('passes over services without a selector and takes those with an empty one', () => {
    const services: ServiceSelector[] = [
      { metadata: { name: 'none' } },
      { metadata: { name: 'null' }, spec: { selector: null } },
      { metadata: { name: 'empty' }, spec: { selector: {} } },
      service({ type: 'ExternalName' }),
    ];
    expect(servicesForPod({ labels: { app: 'web' }, podChanged: false }, services)).toEqual(['empty', 'svc']);
  });

  it('wakes nothing when only the hostname changed, as upstream', () => {
    expect(woken('a', 'a', false)).toBe('');
  });
});
