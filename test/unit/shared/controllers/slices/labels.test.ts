import { describe, expect, it } from 'vitest';
import { labelsChanged, sliceLabels } from '#shared/controllers/slices/labels.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { labelHeadless, labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { decide, managed, only, service } from './fixtures.ts';

const headless = { [labelHeadless]: '' };
const evil = { [labelServiceName]: 'evil', [labelSliceManagedBy]: 'evil', [labelHeadless]: 'evil' };

type ChangedCase = [
  name: string,
  labels: Labels | undefined,
  spec: NonNullable<Service['spec']>,
  serviceLabels: Labels | undefined,
  changed: boolean,
];

describe('labels of a slice', () => {
  it.each([
    ['without labels', {}, {}, managed],
    ['with labels', {}, { foo: 'bar' }, { ...managed, foo: 'bar' }],
    ['headless', { clusterIP: 'None' }, {}, { ...managed, ...headless }],
    ['without a cluster IP', { clusterIP: '' }, {}, { ...managed, ...headless }],
    [
      'headless, several labels',
      { clusterIP: 'None' },
      { foo: 'bar', foo2: 'bar2' },
      { ...managed, ...headless, foo: 'bar', foo2: 'bar2' },
    ],
    ['reserved labels', {}, { ...evil, foo: 'bar' }, { ...managed, foo: 'bar' }],
  ])(
    'labels of a slice are those of the service and ours: %s [UT-100 TestNewEndpointSlice]',
    (_, spec, labels, expected) => {
      expect(sliceLabels(service(spec, { labels }))).toEqual(expected);
    },
  );

  it('come without the annotations of the service [UT-100 TestNewEndpointSlice]', () => {
    const [created] = only(
      decide({ service: service({}, { annotations: { foo: 'bar' }, creationTimestamp: undefined }) }),
    ).create;
    expect(created?.metadata).not.toHaveProperty('annotations');
  });

  it.for<ChangedCase>([
    ['none', {}, {}, {}, false],
    ['none and null', undefined, {}, undefined, false],
    ['headless slice with a label', { ...headless, foo: 'bar' }, { clusterIP: 'None' }, {}, true],
    ['headless slice', headless, { clusterIP: 'None' }, {}, false],
    ['headless slice of a service that is not', headless, {}, {}, false],
    [
      'service turned from headless to cluster IP, label kept',
      { ...headless, foo: 'bar' },
      {},
      { foo: 'bar' },
      false,
    ],
    ['service that carries the headless label itself', {}, {}, headless, false],
    ['the same', { foo: 'bar' }, {}, { foo: 'bar' }, false],
    ['service has new ones', { foo: 'bar' }, {}, { foo: 'bar', extra: 'x' }, true],
    ['another value', { foo: 'bar' }, {}, { foo: 'baz' }, true],
    ['slice has one too many', { foo: 'bar', extra: 'x' }, {}, { foo: 'bar' }, true],
    ['reserved and new', {}, {}, { ...evil, foo: 'bar' }, true],
    ['reserved only', managed, {}, evil, false],
    ['reserved, and the same other one', { ...managed, foo: 'bar' }, {}, { ...evil, foo: 'bar' }, false],
  ])(
    'call for a write or not: %s [UT-103 TestSetEndpointSliceLabels]',
    ([_, labels, spec, serviceLabels, changed]) => {
      expect(labelsChanged(labels, sliceLabels(service(spec, { labels: serviceLabels })))).toBe(changed);
    },
  );
});

describe('address types [UT-104 TestSupportedServiceAddressType]', () => {
  it.each([
    ['IPv4 cluster IP, no families', { clusterIP: '10.0.0.10', ipFamilies: undefined }, ['IPv4']],
    ['IPv6 cluster IP, no families', { clusterIP: '2000::1', ipFamilies: undefined }, ['IPv6']],
    ['IPv4', { ipFamilies: ['IPv4'] }, ['IPv4']],
    ['IPv6', { ipFamilies: ['IPv6'] }, ['IPv6']],
    ['both', { ipFamilies: ['IPv4', 'IPv6'] }, ['IPv4', 'IPv6']],
    ['both, the other way round', { ipFamilies: ['IPv6', 'IPv4'] }, ['IPv4', 'IPv6']],
    ['headless, no families', { clusterIP: 'None', ipFamilies: undefined }, ['IPv4', 'IPv6']],
    ['no cluster IP, no families', { clusterIP: '', ipFamilies: [] }, ['IPv4', 'IPv6']],
    ['headless with families', { clusterIP: 'None', ipFamilies: ['IPv6'] }, ['IPv6']],
    ['families that are not known', { clusterIP: '10.0.0.10', ipFamilies: ['IPv9'] }, ['IPv4']],
  ])('%s', (_, spec, expected) => {
    expect(addressTypesOf(service(spec))).toEqual(expected);
  });
});

it('a slice names the manager that it is to have, which makes no other difference', () => {
  const s = service({}, { labels: { foo: 'bar' } });
  expect(sliceLabels(s, 'opt-in.fleet-endpoints')).toEqual({
    ...sliceLabels(s),
    [labelSliceManagedBy]: 'opt-in.fleet-endpoints',
  });
  const [created] = only(decide({ managedBy: 'opt-in.fleet-endpoints' })).create;
  expect(created?.metadata.labels?.[labelSliceManagedBy]).toBe('opt-in.fleet-endpoints');
});
