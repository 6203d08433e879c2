/** Causes of differences in a recorded vector other than the hub's decisions. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { hasFeature } from '#shared/kube/kubernetes-version.ts';
import type { ShadowDifference, WholeVector } from './shadow-vectors.ts';
import { getsStuck } from './versions.ts';

interface Explanation {
  /** Statement of docs/reference/parity.md, and what happens in the vector. */
  readonly name: string;
  /** The versions that it concerns, all by default. */
  readonly concerns?: (version: string) => boolean;
  readonly explains: (vector: WholeVector, difference: ShadowDifference) => boolean;
}

const explanations: readonly Explanation[] = [
  {
    name: 'Q-17: a write that the vector refuses',
    explains: ({ faults = [] }, { line }) =>
      faults.some(({ resource }) =>
        line.startsWith(resource === 'endpoints' ? 'Endpoints:' : 'EndpointSlices:'),
      ),
  },
  {
    name: 'EV-22: a pod on a deleted node',
    explains: ({ steps }, { step, line }) =>
      steps
        .slice(0, step + 1)
        .some(({ delete: gone = [] }) =>
          gone.some(({ kind, name }) => kind === 'Node' && line.includes(` node=${name} `)),
        ),
  },
  {
    name: 'DF-8: Endpoints are never written again after an update that changed nothing',
    concerns: getsStuck,
    explains: (vector, { step, service, line }) =>
      line.startsWith('Endpoints:') && isStuck(vector, step, service),
  },
  {
    name: 'DF-14: which of more than 1,000 addresses are left out',
    concerns: (version) => !hasFeature(version, 'orderByFnv'),
    explains: ({ steps }, { step, service, line }) =>
      line.startsWith('Endpoints:') && addressCount(steps[step]?.outputs ?? [], service) >= 1000,
  },
  {
    name: 'DF-20: a trafficDistribution that the API server refuses',
    concerns: (version) => !hasFeature(version, 'preferSame'),
    explains: (vector, { step, service, line }) =>
      line.startsWith('EndpointSlices:') &&
      /^PreferSame/.test(String(serviceAt(vector, step, service)?.spec?.['trafficDistribution'])),
  },
];

export function shadowExplanationOf(
  version: string,
  vector: WholeVector,
  difference: ShadowDifference,
): string | undefined {
  return explanations.find(
    ({ concerns, explains }) => (concerns?.(version) ?? true) && explains(vector, difference),
  )?.name;
}

const isOf = ({ metadata }: RawObject, service: string): boolean =>
  `${metadata.namespace}/${metadata.name}` === service;

function serviceAt({ given, steps }: WholeVector, step: number, service: string): RawObject | undefined {
  return [...given, ...steps.slice(0, step + 1).flatMap(({ apply = [] }) => apply)].findLast(
    (o) => o.kind === 'Service' && isOf(o, service),
  );
}

const endpointsIn = (outputs: readonly RawObject[], service: string): RawObject | undefined =>
  outputs.find((o) => o.kind === 'Endpoints' && isOf(o, service));

/**
 * Was there an update of Endpoints in a step at whose end the object had the resourceVersion from before it?
 */
function isStuck({ given, steps }: WholeVector, step: number, service: string): boolean {
  const states = [given, ...steps.map(({ outputs }) => outputs)].map(
    (outputs) => endpointsIn(outputs, service)?.metadata.resourceVersion,
  );
  return steps
    .slice(0, step + 1)
    .some(
      ({ expect }, i) =>
        (expect.writes['endpoints']?.['update'] ?? 0) > 0 &&
        states[i] !== undefined &&
        states[i] === states[i + 1],
    );
}

function addressCount(outputs: readonly RawObject[], service: string): number {
  const { subsets = [] } = (endpointsIn(outputs, service) ?? {}) as {
    readonly subsets?: readonly { readonly [list: string]: readonly object[] }[];
  };
  return subsets.reduce(
    (n, { addresses = [], notReadyAddresses = [] }) => n + addresses.length + notReadyAddresses.length,
    0,
  );
}
