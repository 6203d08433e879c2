import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpPort, dumpSubset } from '#shared/controllers/endpoints/dump.ts';
import { repackSubsets } from '#shared/controllers/endpoints/subsets.ts';
import { fnv1a128 } from '#shared/kube/hash.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '#shared/kube/types.ts';

const port = (number: number, name = '', protocol = 'TCP'): EndpointPort => ({
  ...(name && { name }),
  port: number,
  protocol,
});
const address = (ip: string, uid?: string): EndpointAddress => ({
  ip,
  ...(uid !== undefined && { targetRef: { uid } }),
});
const subset = (
  ready: readonly EndpointAddress[],
  notReady: readonly EndpointAddress[],
  ...ports: EndpointPort[]
): EndpointSubset => ({
  ...(ready.length > 0 && { addresses: ready }),
  ...(notReady.length > 0 && { notReadyAddresses: notReady }),
  ...(ports.length > 0 && { ports }),
});

const [one, two, three] = ['1.2.3.4', '5.6.7.8', '8.7.6.5'].map((ip) => address(ip)) as [
  EndpointAddress,
  EndpointAddress,
  EndpointAddress,
];
const [p1, p2] = [port(111), port(222)];

/** Upstream's order of ports is by hash: this sorts the expected ones. */
const byHash = (...ports: EndpointPort[]) =>
  ports.sort((a, b) => (fnv1a128(dumpPort(a)) < fnv1a128(dumpPort(b)) ? -1 : 1));

describe('hashes', () => {
  it.each<[EndpointPort, string]>([
    [port(8080, 'http'), '25304a33da9e6ece350a4142a45f5b75'],
    [port(8443, 'https'), 'ff1a33bac4ac0f54ddfa86bb65936e0d'],
    [{ ...port(53, 'dns', 'UDP'), appProtocol: 'foo' }, '23352f8c297be194e994dd0b5b2b384f'],
    [{ ...port(53, '', 'UDP'), appProtocol: 'kubernetes.io/h2c' }, 'ea9d9c8cd570cf68ee86bf918262ae86'],
    [port(80), '19cbad1834a78abad87a093580858485'],
    [port(8080), 'b09ff368df0fc81442c7b7a3ab2dbca5'],
    [port(8080, '', 'UDP'), '59aa40b466adb81c6e00232f1f0ba361'],
    [port(8080, '', 'SCTP'), '5d266277889c0988413b8b706436593a'],
    [port(80, 'a'), '93f7910f45d8a99109c5b3f74144e582'],
    [port(443, 'b'), '36107e2e4dd7c6440d516c85ee9df36a'],
    [port(9090, 'c'), '116b7f338a7cc2f64514d38fe0a5ddb8'],
  ])('hashes of the port %j are upstream’s', (p, hash) => {
    expect(fnv1a128(dumpPort(p))).toBe(hash);
  });

  it('hashes of subsets are upstream’s', () => {
    const target = (n: number) => ({ kind: 'Pod', namespace: 'ns', name: `pod${n}`, uid: `uid${n}` });
    const first = { ip: '1.2.3.4', nodeName: 'node-1', targetRef: target(0) };
    const second = { ip: '1.2.3.5', hostname: 'h"q\\é', nodeName: '', targetRef: target(1) };
    expect(fnv1a128(dumpSubset(subset([first], [], port(8080, 'http'))))).toBe(
      '16fb64812722b5d6a07cf49930e1adae',
    );
    expect(fnv1a128(dumpSubset(subset([first, second], [])))).toBe('63846733316b8b55456db37af4298a02');
    const { nodeName: _, ...withoutNode } = second;
    expect(dumpSubset(subset([withoutNode], []))).toBe(dumpSubset(subset([second], [])));
    expect(dumpSubset(subset([{ ip: '1.2.3.5' }], []))).toContain('NodeName:(*string)<nil>');
  });
});

const cases: readonly (readonly [
  name: string,
  given: readonly EndpointSubset[],
  packed: readonly EndpointSubset[],
])[] = [
  ['UT-40 nothing', [], []],
  ['UT-40 empty everything', [{ addresses: [], notReadyAddresses: [], ports: [] }], []],
  ['UT-40 empty addresses', [subset([], [], p1)], []],
  ['UT-40 null lists', [{ addresses: null, ports: [p1] } as unknown as EndpointSubset], []],
  ['UT-40 empty ports', [{ addresses: [one], ports: [] }], [{ addresses: [one] }]],
  ['UT-40 empty ports, not ready', [subset([], [one])], [subset([], [one])]],
  ['UT-41 one ip, one port', [subset([one], [], p1)], [subset([one], [], p1)]],
  ['UT-41 one IPv6', [subset([address('beef::1')], [], p1)], [subset([address('beef::1')], [], p1)]],
  ['UT-41 one not ready', [subset([], [one], p1)], [subset([], [one], p1)]],
  [
    'UT-41 one with UID',
    [subset([address('1.2.3.4', 'u')], [], p1)],
    [subset([address('1.2.3.4', 'u')], [], p1)],
  ],
  [
    'UT-41 one not ready with UID',
    [subset([], [address('1.2.3.4', 'u')], p1)],
    [subset([], [address('1.2.3.4', 'u')], p1)],
  ],
  [
    'UT-41 one with an empty UID',
    [subset([address('1.2.3.4', '')], [], p1)],
    [subset([address('1.2.3.4', '')], [], p1)],
  ],
  ['UT-42 two ips, one port', [subset([two, one], [], p1)], [subset([one, two], [], p1)]],
  ['UT-42 two ips, one of them not ready', [subset([two], [one], p1)], [subset([two], [one], p1)]],
  ['UT-42 one ip both ready and not', [subset([one], [one], p1)], [subset([], [one], p1)]],
  ['UT-42 ready after not ready', [subset([], [one], p1), subset([one], [], p1)], [subset([], [one], p1)]],
  ['UT-43 one ip, two ports', [subset([one], [], p1, p2)], [subset([one], [], ...byHash(p1, p2))]],
  ['UT-43 one ip twice', [subset([one, one], [], p1)], [subset([one], [], p1)]],
  [
    'UT-43 one IPv6 twice',
    [subset([address('beef::1'), address('beef::1')], [], p1)],
    [subset([address('beef::1')], [], p1)],
  ],
  [
    'UT-43 one ip twice, with other targets: the first is kept',
    [
      subset(
        [
          { ip: '1.2.3.4', targetRef: { name: 'a' } },
          { ip: '1.2.3.4', targetRef: { name: 'b' } },
        ],
        [],
        p1,
      ),
    ],
    [subset([{ ip: '1.2.3.4', targetRef: { name: 'a' } }], [], p1)],
  ],
  [
    'UT-43 the first target is kept, not ready wins',
    [
      subset(
        [{ ip: '1.2.3.4', targetRef: { name: 'a' } }],
        [{ ip: '1.2.3.4', targetRef: { name: 'b' } }],
        p1,
      ),
    ],
    [subset([], [{ ip: '1.2.3.4', targetRef: { name: 'a' } }], p1)],
  ],
  ['UT-44 one port twice', [subset([one], [], p1, p1)], [subset([one], [], p1)]],
  [
    'UT-44 two sets, same ip and port',
    [subset([one], [], p1), subset([one], [], p1)],
    [subset([one], [], p1)],
  ],
  ['UT-44 two sets, ready and not', [subset([one], [], p1), subset([], [one], p1)], [subset([], [one], p1)]],
  [
    'UT-44 two sets, same ip, two ports',
    [subset([one], [], p1), subset([one], [], p2)],
    [subset([one], [], ...byHash(p1, p2))],
  ],
  [
    'UT-44 two sets, same ip and UID, two ports',
    [subset([address('1.2.3.4', 'u')], [], p1), subset([address('1.2.3.4', 'u')], [], p2)],
    [subset([address('1.2.3.4', 'u')], [], ...byHash(p1, p2))],
  ],
  [
    'UT-45 two sets, two ips, same port',
    [subset([two], [], p1), subset([one], [], p1)],
    [subset([one, two], [], p1)],
  ],
  [
    'UT-45 same ip, two UIDs',
    [subset([address('1.2.3.4', 'u2')], [], p1), subset([address('1.2.3.4', 'u1')], [], p1)],
    [subset([address('1.2.3.4', 'u1'), address('1.2.3.4', 'u2')], [], p1)],
  ],
  [
    'UT-45 with and without UID',
    [subset([address('1.2.3.4', 'u'), one], [], p1)],
    [subset([one, address('1.2.3.4', 'u')], [], p1)],
  ],
  [
    'UT-45 sorted as text',
    [subset([address('10.0.0.9'), address('10.0.0.10')], [], p1)],
    [subset([address('10.0.0.10'), address('10.0.0.9')], [], p1)],
  ],
  [
    'UT-46 two sets, two ips, two ports, some of each not ready',
    [subset([one, two], [], p1), subset([two], [one], p2)],
    [subset([one, two], [], p1), subset([two], [one], p2)],
  ],
  [
    'UT-46 four sets jumbled',
    [subset([one], [], p1), subset([two], [], p2), subset([one], [], p2), subset([two], [], p1)],
    [subset([one, two], [], ...byHash(p1, p2))],
  ],
  [
    'UT-46 four mixed sets jumbled',
    [subset([one], [three], p1), subset([], [three], p2), subset([one], [], p2), subset([two], [], p1)],
    [subset([one, two], [three], p1), subset([one], [three], p2)],
  ],
  ['no port by its number', [subset([one], [], port(0, 'x'))], [subset([one], [])]],
  ['no port beside a real one', [subset([one], [], port(0, 'x'), p1)], [subset([one], [], p1)]],
];

describe('repackSubsets [UT-40..46 TestPackSubsets]', () => {
  it.each(cases)('%s', (_, given, packed) => {
    expect([...repackSubsets(given)].sort(byText)).toEqual([...packed].sort(byText));
  });

  it('orders ports and subsets by hash, addresses by text', () => {
    const at = (ip: string, name: string) => ({
      ip,
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', namespace: 'ns', name, uid: 'u' },
    });
    const [nine, ten, eleven] = [at('10.0.0.9', 'p9'), at('10.0.0.10', 'p10'), at('10.0.0.11', 'p11')];
    const [a, b, c] = [port(80, 'a'), port(443, 'b'), port(9090, 'c')];
    const packed = repackSubsets([
      subset([nine], [], a, b),
      subset([ten], [], a, b, c),
      subset([], [eleven], a, b),
    ]);
    expect(packed.map(({ ports }) => ports)).toEqual([[b, a], [c]]);
    expect(packed).toEqual([subset([ten, nine], [eleven], b, a), subset([ten], [], c)]);
  });
});

const byText = (a: EndpointSubset, b: EndpointSubset) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

describe('repackSubsets', () => {
  const anyAddress = fc
    .record({ ip: fc.constantFrom('10.0.0.9', '10.0.0.10', 'fd00::1'), uid: fc.constantFrom('', 'u1', 'u2') })
    .map(
      ({ ip, uid }): EndpointAddress =>
        uid
          ? { ip, nodeName: `node of ${uid}`, targetRef: { kind: 'Pod', name: `pod ${uid}`, uid } }
          : { ip },
    );
  const anyPort = fc.constantFrom(p1, p2, port(111, 'a'), port(111, '', 'UDP'), { ...p1, appProtocol: '' });
  const anySubset = fc.record({
    addresses: fc.array(anyAddress, { maxLength: 4 }),
    notReadyAddresses: fc.array(anyAddress, { maxLength: 3 }),
    ports: fc.array(anyPort, { maxLength: 4 }),
  });
  const anySubsets = fc.array(anySubset, { maxLength: 5 });

  it('repackSubsets does not depend on the order of its input', () => {
    const jumbled = anySubsets.chain((subsets) => {
      const whole = <T>(items: readonly T[]) =>
        fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length });
      const inner = subsets.map((s) =>
        fc.record({
          addresses: whole(s.addresses),
          notReadyAddresses: whole(s.notReadyAddresses),
          ports: whole(s.ports),
        }),
      );
      return fc.tuple(
        fc.constant(subsets),
        inner.length > 0 ? fc.tuple(...inner).chain(whole) : fc.constant([]),
      );
    });
    fc.assert(
      fc.property(jumbled, ([subsets, same]) => {
        expect(repackSubsets(same)).toEqual(repackSubsets(subsets));
      }),
    );
  });

  // ports of number 0 aside: two of them may leave two subsets without ports, which are one the next time
  it('leaves its own result as it is', () => {
    fc.assert(
      fc.property(anySubsets, (subsets) => {
        const packed = repackSubsets(subsets);
        expect(repackSubsets(packed)).toEqual(packed);
      }),
    );
  });
});
