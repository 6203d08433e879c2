/** What the writer may do in a cluster: the verbs of its ClusterRole (infra/relay/rbac.ts), and what its admission policies allow. */
import { optInManager, serviceNameLabel, sliceManagedByLabel } from '#shared/contract/managed-by.ts';
import { ClusterApiError } from './errors.ts';
import type { ClusterApi, Creatable, Right } from './port.ts';

const verbsOn = (verbs: readonly string[], group: string, resource: string): readonly Right[] => verbs.map((verb) => ({ verb, group, resource }));

const all = ['get', 'list', 'create', 'update', 'delete'];
const slices = verbsOn(all, 'discovery.k8s.io', 'endpointslices');
const others = [...['services', 'pods'].flatMap((resource) => verbsOn(['get', 'list'], '', resource)), ...verbsOn(['create', 'patch'], '', 'events')];

/** In active mode. */
export const neededRights: readonly Right[] = [...verbsOn(all, '', 'endpoints'), ...slices, ...others];

const text = ({ verb, resource }: Right): string => `${verb} ${resource}`;
export const deletesEndpoints = 'delete endpoints';
const neededForOptIn = new Set([...slices, ...others, { verb: 'get', group: '', resource: 'endpoints' }].map(text)).add(deletesEndpoints);

export interface MissingRights {
  /** Of those that active mode needs, as "verb resource". */
  readonly missing: readonly string[];
  /** Of those that Services that opt in need, and why a slice of theirs would be refused. */
  readonly optIn: readonly string[];
}

/** Rejects when the API server does not answer. */
export async function missingRights(api: Pick<ClusterApi, 'allows' | 'dryRunCreate'>): Promise<MissingRights> {
  const [allowed, refusal] = await Promise.all([Promise.all(neededRights.map((right) => api.allows(right))), refusalOf(api)]);
  const missing = neededRights.filter((_, i) => !allowed[i]).map(text);
  return { missing, optIn: [...missing.filter((right) => neededForOptIn.has(right)), ...(refusal === undefined ? [] : [refusal])] };
}

/** Undefined: the admission policies let a slice pass as it is written for a Service that opts in. */
async function refusalOf(api: Pick<ClusterApi, 'dryRunCreate'>): Promise<string | undefined> {
  try {
    await api.dryRunCreate('EndpointSlice', exampleSlice);
    return undefined;
  } catch (error) {
    if (error instanceof ClusterApiError && (error.status === 403 || error.status === 422)) return `a slice would be refused: ${error.message}`;
    throw error;
  }
}

const name = 'fleet-endpoints-check';
const owner = { apiVersion: 'v1', kind: 'Service', name, uid: '00000000-0000-4000-8000-000000000000', controller: true, blockOwnerDeletion: true };
const exampleSlice: Creatable<'EndpointSlice'> = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name,
    namespace: 'default',
    labels: { [serviceNameLabel]: name, [sliceManagedByLabel.key]: optInManager },
    ownerReferences: [owner],
  },
  addressType: 'IPv4',
  endpoints: [],
  ports: [],
};
