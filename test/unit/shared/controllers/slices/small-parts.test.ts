/** Small pure functions of shared/controllers/slices: efficiency, quantities and names. */
import { describe, expect, it } from 'vitest';
import { ClusterApiError, isNamespaceTerminating } from '#shared/clusters/api/errors.ts';
import { efficiency, type GroupCount } from '#shared/controllers/slices/efficiency.ts';
import { parseQuantity, toMilli } from '#shared/controllers/slices/hints/quantity.ts';
import { joinErrors, slicesFailureEvent, writeFailure } from '#shared/controllers/slices/outcome.ts';
import { assignName, generateNamePrefix, sliceName } from '#shared/controllers/slices/slice-name.ts';
import { carryOut, decide, input, only, pods, service } from './fixtures.ts';

describe('efficiency [UT-107 TestNumEndpointsAndSlices]', () => {
  const sum = (...services: readonly (readonly GroupCount[])[]) => {
    const totals = services.map((groups) => efficiency(groups, 100));
    const of = (field: keyof (typeof totals)[number]) => totals.reduce((all, e) => all + e[field], 0);
    return [of('slicesDesired'), of('slicesActual'), of('endpointsDesired')];
  };
  const group = (endpoints: number, slices: number) => ({ endpoints, slices });

  it('adds up over services, their updates and deletions', () => {
    const [many, few] = [
      [group(10, 11), group(20, 2)],
      [group(45, 1), group(35, 1)],
    ];
    expect(sum(many)).toEqual([2, 13, 30]);
    expect(sum(many, few)).toEqual([4, 15, 110]);
    expect(sum(many, few, many)).toEqual([6, 28, 140]);
    expect(sum(many, few, few)).toEqual([6, 17, 190]);
    expect(sum(few, few)).toEqual([4, 4, 160]);
  });

  it('wants one slice for groups that are empty, however many there are', () => {
    expect(efficiency([group(0, 1), group(0, 1)], 100)).toEqual({
      slicesDesired: 1,
      slicesActual: 2,
      endpointsDesired: 0,
    });
    expect(efficiency([], 100)).toEqual({ slicesDesired: 1, slicesActual: 0, endpointsDesired: 0 });
  });

  it('wants as few slices as hold the endpoints', () => {
    expect([1, 99, 100, 101, 200, 201].map((n) => efficiency([group(n, 1)], 100).slicesDesired)).toEqual([
      1, 1, 1, 2, 2, 3,
    ]);
  });
});

describe('parseQuantity', () => {
  it.each<[string, bigint]>([
    ['4', 4_000_000_000n],
    ['+4', 4_000_000_000n],
    ['-4', -4_000_000_000n],
    ['500m', 500_000_000n],
    ['0.5', 500_000_000n],
    ['.5', 500_000_000n],
    ['5.', 5_000_000_000n],
    ['100u', 100_000n],
    ['3n', 3n],
    ['1.5n', 2n],
    ['2k', 2_000_000_000_000n],
    ['1E', 10n ** 27n],
    ['1e3', 1_000_000_000_000n],
    ['1E-3', 1_000_000n],
    ['1.5Ki', 1_536_000_000_000n],
    ['1Ei', 2n ** 60n * 10n ** 9n],
    ['0', 0n],
  ])('reads %s', (text, nano) => {
    expect(parseQuantity(text)).toBe(nano);
  });

  it.each(['', '.', 'm', '-', '1 ', '1mm', '1Mim', '0x1', '1e', 'NaN', '1K'])('refuses %j', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  it('rounds up to whole milli-units', () => {
    expect(['1', '0.0001', '1.0011', '0'].map((text) => toMilli(parseQuantity(text) ?? 0n))).toEqual([
      1000, 1, 1002, 0,
    ]);
  });
});

describe('names', () => {
  const [draft] = only(decide({ pods: pods(1) })).create;

  it('names have the shape that the API server gives', () => {
    expect(sliceName('foo', ['uid', 'IPv4', ''], 0)).toMatch(/^foo-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(sliceName('x'.repeat(63), ['uid', 'IPv4', ''], 0)).toMatch(
      /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/,
    );
  });

  it('names are the same each time and differ in everything they depend on', () => {
    const names = [
      sliceName('foo', ['uid', 'IPv4', ''], 0),
      sliceName('foo', ['uid2', 'IPv4', ''], 0),
      sliceName('foo', ['uid', 'IPv6', ''], 0),
      sliceName('foo', ['uid', 'IPv4', 'p'], 0),
      sliceName('foo', ['uid', 'IPv4', ''], 1),
    ];
    expect(new Set(names).size).toBe(5);
    expect(sliceName('foo', ['uid', 'IPv4', ''], 0)).toBe(names[0]);
  });

  it('names of existing slices are skipped', () => {
    if (!draft) throw new Error('no draft');
    const first = assignName(draft, 'uid', new Set());
    const second = assignName(draft, 'uid', new Set([first.metadata.name]));
    expect(second.metadata.name).not.toBe(first.metadata.name);
    expect(assignName(draft, 'uid', new Set([second.metadata.name]))).toEqual(first);
    expect(first.metadata.generateName).toBe('foo-');
  });

  it('names of two writers of a Service are different, while it is handed over', () => {
    if (!draft) throw new Error('no draft');
    const labels = {
      ...draft.metadata.labels,
      'endpointslice.kubernetes.io/managed-by': 'opt-in.fleet-endpoints',
    };
    const byAnnotation = assignName({ ...draft, metadata: { ...draft.metadata, labels } }, 'uid', new Set());
    expect(byAnnotation.metadata.name).not.toBe(assignName(draft, 'uid', new Set()).metadata.name);
  });

  it('begin with the dash unless that makes them invalid', () => {
    expect(generateNamePrefix('foo')).toBe('foo-');
    expect(generateNamePrefix('x'.repeat(253))).toBe('x'.repeat(253));
    expect(generateNamePrefix('foo.')).toBe('foo.-');
    expect(generateNamePrefix('Foo')).toBe('Foo');
  });
});

describe('the messages of a run with errors', () => {
  it('joins errors as Go does: each once, in brackets if there are several', () => {
    expect(joinErrors(['a'])).toBe('a');
    expect(joinErrors(['a', 'a'])).toBe('a');
    expect(joinErrors(['a', 'b', 'a'])).toBe('[a, b]');
  });

  it('the messages of a run with errors are an event on the service', () => {
    expect(slicesFailureEvent(service({}, { resourceVersion: '7' }), 'ERR')).toEqual({
      type: 'Warning',
      reason: 'FailedToUpdateEndpointSlices',
      message: 'Error updating Endpoint Slices for Service ns/foo: ERR',
      regarding: {
        kind: 'Service',
        namespace: 'ns',
        name: 'foo',
        uid: 'service-uid',
        apiVersion: 'v1',
        resourceVersion: '7',
      },
      component: 'endpoint-slice-controller',
    });
  });

  it('names the write that failed', () => {
    expect(writeFailure.create(service(), 'ERR')).toBe(
      'failed to create EndpointSlice for Service ns/foo: ERR',
    );
    expect(writeFailure.update(service(), 'foo-a', 'ERR')).toBe(
      'failed to update foo-a EndpointSlice for Service ns/foo: ERR',
    );
    expect(writeFailure.delete(service(), 'foo-a', 'ERR')).toBe(
      'failed to delete foo-a EndpointSlice for Service ns/foo: ERR',
    );
    expect(writeFailure.deleteUnsupported(service(), 'foo-a', 'ERR')).toBe(
      'error deleting foo-a EndpointSlice for Service ns/foo: ERR',
    );
  });

  it('the messages of a run with errors are suppressed for a terminating namespace, with any status', () => {
    expect(
      isNamespaceTerminating(new ClusterApiError('', { status: 403, causes: ['NamespaceTerminating'] })),
    ).toBe(true);
    expect(isNamespaceTerminating(new ClusterApiError('', { status: 403, reason: 'Forbidden' }))).toBe(false);
  });
});

it('keeps its names when a run is repeated before it was seen', () => {
  const before = input({ pods: pods(150) });
  const names = () => carryOut(before, decide(before)).slices.map((s) => s.metadata.name);
  expect(names()).toEqual(names());
});
