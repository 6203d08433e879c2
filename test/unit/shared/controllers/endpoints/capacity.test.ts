import { describe, expect, it } from 'vitest';
import { countAddresses, truncate } from '#shared/controllers/endpoints/capacity.ts';
import type { EndpointSubset } from '#shared/kube/types.ts';

const addresses = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ ip: `10.${n % 256}.${i >> 8}.${i & 255}` }));

/** Subsets with so many ready and not ready addresses. */
const subsets = (ready: readonly number[], notReady: readonly number[] = []): EndpointSubset[] =>
  ready.map((n, i) => ({
    addresses: addresses(n),
    notReadyAddresses: addresses(notReady[i] ?? 0),
    ports: [{ port: i + 1 }],
  }));

const sizes = (list: readonly EndpointSubset[] | undefined) =>
  list?.map((s) => [s.addresses?.length ?? 0, s.notReadyAddresses?.length ?? 0]);

describe('truncate [UT-24 TestTruncateEndpoints]', () => {
  it('leaves what fits', () => {
    expect(truncate([])).toBeUndefined();
    expect(truncate(subsets([50, 100, 100, 100, 100], [10, 20, 30, 40, 50]))).toBeUndefined();
    expect(truncate(subsets([500, 200], [300, 0]))).toBeUndefined();
  });

  it('takes ready addresses in proportion, and no others', () => {
    const truncated = truncate(subsets([205, 400, 402, 400, 693], [100, 200, 300, 400, 500]));
    expect(sizes(truncated)).toEqual([
      [98, 0],
      [191, 0],
      [192, 0],
      [191, 0],
      [328, 0],
    ]);
    expect(countAddresses(truncated)).toEqual({ ready: 1000, notReady: 0 });
  });

  it('takes all ready addresses and fills up with others in proportion', () => {
    const truncated = truncate(subsets([90, 110, 50, 10, 20], [101, 200, 200, 201, 298]));
    expect(sizes(truncated)).toEqual([
      [90, 73],
      [110, 144],
      [50, 144],
      [10, 145],
      [20, 214],
    ]);
  });

  it('drops a subset that is left with no address, which the API would refuse', () => {
    const truncated = truncate(subsets([1000, 0], [0, 5]));
    expect(sizes(truncated)).toEqual([[1000, 0]]);
    expect(truncated?.[0]).not.toHaveProperty('notReadyAddresses');
  });

  it('keeps the first addresses and the ports of each subset', () => {
    const given = subsets([1500]);
    expect(truncate(given)).toEqual([
      { addresses: given[0]?.addresses?.slice(0, 1000), ports: [{ port: 1 }] },
    ]);
  });
});
