/**
 * Checks what the writer may do in a cluster: the verbs of its ClusterRole (infra/relay/rbac.ts) and its
 * admission policies.
 */
import { allToEnd } from '#shared/concurrently.ts';
import { labelServiceName, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import { ClusterApiError } from './errors.ts';
import type { ClusterApi, Creatable, Right } from './port.ts';

const verbsOn = (verbs: readonly string[], group: string, resource: string): readonly Right[] =>
  verbs.map((verb) => ({ verb, group, resource }));

const all = ['get', 'list', 'create', 'update', 'delete'];
const slices = verbsOn(all, 'discovery.k8s.io', 'endpointslices');
const others = [
  ...['services', 'pods', 'nodes'].flatMap((resource) => verbsOn(['get', 'list'], '', resource)),
  ...verbsOn(['create', 'patch'], '', 'events'),
];

/** In active mode. */
export const neededRights: readonly Right[] = [...verbsOn(all, '', 'endpoints'), ...slices, ...others];

const mcs = 'multicluster.x-k8s.io';
/**
 * Beyond those of Services that opt in: a derived Service is written, and so are the kinds of the
 * Multi-Cluster Services API.
 */
const onlyForImports: readonly Right[] = [
  ...verbsOn(['create', 'update', 'delete'], '', 'services'),
  ...verbsOn(['get', 'create', 'update', 'delete'], mcs, 'serviceimports'),
  { verb: 'patch', group: mcs, resource: 'serviceimports', subresource: 'status' },
];

const text = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
export const deletesEndpoints = 'delete endpoints';
const neededForOptIn = new Set(
  [...slices, ...others, { verb: 'get', group: '', resource: 'endpoints' }].map(text),
).add(deletesEndpoints);
const neededForImports = new Set([...slices, ...others].map(text));

export interface MissingRights {
  /** Missing rights of active mode, as "verb resource". */
  readonly missing: readonly string[];
  /** Missing rights for Services that opt in, and the reason why the cluster would refuse their slices. */
  readonly optIn: readonly string[];
  /** Missing rights for imports. Left out if they were not checked. */
  readonly imports?: readonly string[];
}

/**
 * Asks the API server for the rights that the writer lacks, with `imports` also for those of imports. Rejects
 * if the API server does not answer.
 */
export async function missingRights(
  api: Pick<ClusterApi, 'allows' | 'dryRunCreate'>,
  { imports = false } = {},
): Promise<MissingRights> {
  const missingOf = async (rights: readonly Right[]): Promise<readonly string[]> => {
    const allowed = await allToEnd(rights.map((right) => api.allows(right)));
    return rights.filter((_, i) => !allowed[i]).map(text);
  };
  const [missing, ofImports, refusal] = await allToEnd([
    missingOf(neededRights),
    missingOf(imports ? onlyForImports : []),
    refusalOf(api),
  ]);
  return {
    missing,
    optIn: [
      ...missing.filter((right) => neededForOptIn.has(right)),
      ...(refusal === undefined ? [] : [refusal]),
    ],
    ...(imports && { imports: [...missing.filter((right) => neededForImports.has(right)), ...ofImports] }),
  };
}

/** Undefined: the admission policies let a slice pass as it is written for a Service that opts in. */
async function refusalOf(api: Pick<ClusterApi, 'dryRunCreate'>): Promise<string | undefined> {
  try {
    await api.dryRunCreate('EndpointSlice', exampleSlice);
    return undefined;
  } catch (error) {
    if (error instanceof ClusterApiError && (error.status === 403 || error.status === 422))
      return `a slice would be refused: ${error.message}`;
    throw error;
  }
}

const name = 'fleet-endpoints-check';
const owner = {
  apiVersion: 'v1',
  kind: 'Service',
  name,
  uid: '00000000-0000-4000-8000-000000000000',
  controller: true,
  blockOwnerDeletion: true,
};
const exampleSlice: Creatable<'EndpointSlice'> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name,
    namespace: 'default',
    labels: { [labelServiceName]: name, [labelSliceManagedBy]: optInManagedBy },
    ownerReferences: [owner],
  },
  addressType: 'IPv4',
  endpoints: [],
  ports: [],
};
