import { describe, expect, it } from 'vitest';
import { podChange } from '#shared/controllers/membership/pod-change.ts';
import { type PodOptions, pod } from '#test/unit/shared/kube/objects.ts';

const labels = { app: 'web' };
const before = { resourceVersion: '1', ips: ['1.2.3.4', 'fd00::1'], readySince: '2026-01-01T00:00:00Z' };
/** Returns the change of an update of such a pod. */
const update = (change: PodOptions, old: PodOptions = {}) =>
  podChange(pod('p', { ...before, ...old }), pod('p', { ...before, resourceVersion: '2', ...change }));

describe('podChange', () => {
  it('podChange of a pod that came or went has its labels', () => {
    const p = pod('p');
    expect(podChange(undefined, p)).toEqual({ labels, podChanged: false });
    expect(podChange(p, undefined)).toEqual({ labels, podChanged: false });
    expect(podChange(undefined, undefined)).toBeUndefined();
  });

  it.each<[string, PodOptions]>([
    ['nothing', {}],
    ['its version', { resourceVersion: '3' }],
    ['its node', { spec: { nodeName: 'node-2', containers: [] } }],
    [
      'its container ports',
      { spec: { containers: [{ name: 'c', ports: [{ name: 'dns', containerPort: 53 }] }] } },
    ],
    ['its phase', { phase: 'Failed' }],
    ['status.podIP', { podIP: '5.6.7.8' }],
    ['the time of its Ready condition', { readySince: '2026-01-02T00:00:00Z' }],
  ])('podChange is none when %s changed [UT-54 Test_podChanged]', (_, change) => {
    expect(update(change)).toBeUndefined();
  });

  it.each<[string, PodOptions, PodOptions, boolean]>([
    ['a pod that ends', {}, { phase: 'Failed' }, true],
    ['a pod that has ended', { phase: 'Failed' }, { phase: 'Failed', ready: false }, false],
    ['a pod without an IP', { ips: [] }, { ips: [], ready: false }, false],
  ])('podChange of v1.38 asks whether a pod can be an endpoint: %s', (_, old, change, isConcerned) => {
    const [was, is] = [
      pod('p', { ...before, ...old }),
      pod('p', { ...before, resourceVersion: '2', ...change }),
    ];
    expect(podChange(was, is, true) !== undefined).toBe(isConcerned);
    expect(podChange(undefined, was, true) !== undefined).toBe(old.phase === undefined && !old.ips);
  });

  it('podChange is none for a version delivered again with any content', () => {
    expect(update({ resourceVersion: '1', ready: false })).toBeUndefined();
  });

  it('podChange is found by the content when there are no versions', () => {
    expect(podChange(pod('p'), pod('p'))).toBeUndefined();
    expect(podChange(pod('p'), pod('p', { ready: false }))).toBeDefined();
  });

  it.each<[string, PodOptions, PodOptions?]>([
    ['its first IP came', {}, { ips: [] }],
    ['its first IP is another', { ips: ['1.2.3.5', 'fd00::1'] }],
    ['its second IP came', {}, { ips: ['1.2.3.4'] }],
    ['its second IP is another', { ips: ['1.2.3.4', 'fd00::2'] }],
    ['its second IP went', { ips: ['1.2.3.4'] }],
    ['its IPs changed places', { ips: ['fd00::1', '1.2.3.4'] }],
    ['it is not ready any more', { ready: false }],
    ['it became ready', {}, { ready: 'none' }],
    ['its deletion began', { deleted: true }],
    ['it is being deleted still', { deleted: true }, { deleted: true }],
  ])('podChange is one of the pod when %s [UT-54 Test_podChanged]', (_, change, old) => {
    expect(update(change, old)).toEqual({ labels, podChanged: true });
  });

  it.each<[string, PodOptions]>([
    ['came', { labels: { app: 'web', tier: 'front' } }],
    ['is another', { labels: { app: 'db' } }],
    ['went', { labels: {} }],
  ])('podChange is one of the labels when one %s [UT-54 Test_podChanged]', (_, change) => {
    expect(update(change)).toEqual({ labels: change.labels, oldLabels: labels, podChanged: false });
  });

  it('podChange is one of both', () => {
    expect(update({ labels: {}, ready: false })).toEqual({ labels: {}, oldLabels: labels, podChanged: true });
  });

  it('counts a new hostname as a change of labels', () => {
    expect(update({ spec: { hostname: 'h', containers: [] } })).toEqual({
      labels,
      oldLabels: labels,
      podChanged: false,
    });
    expect(update({ spec: { subdomain: 'svc', containers: [] } })).toEqual({
      labels,
      oldLabels: labels,
      podChanged: false,
    });
  });

  it('podChange has no old labels when there were none', () => {
    const bare = pod('p', { ...before });
    const { labels: _, ...metadata } = bare.metadata;
    const change = podChange({ ...bare, metadata }, pod('p', { ...before, resourceVersion: '2' }));
    expect(change).toEqual({ labels, podChanged: false });
  });
});
