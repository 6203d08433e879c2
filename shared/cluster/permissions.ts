/** The verbs that the writer needs in a cluster (its ClusterRole: infra/relay/rbac.ts). */
import type { ClusterApi, Right } from './port.ts';

export const neededRights: readonly Right[] = [
  ...['get', 'list', 'create', 'update', 'delete'].flatMap((verb) => [
    { verb, group: '', resource: 'endpoints' },
    { verb, group: 'discovery.k8s.io', resource: 'endpointslices' },
  ]),
  ...['get', 'list'].flatMap((verb) => ['services', 'pods'].map((resource) => ({ verb, group: '', resource }))),
  ...['create', 'patch'].map((verb) => ({ verb, group: '', resource: 'events' })),
];

/** As "verb resource"; rejects when the API server does not answer. */
export async function missingRights(api: Pick<ClusterApi, 'allows'>): Promise<readonly string[]> {
  const allowed = await Promise.all(neededRights.map((right) => api.allows(right)));
  return neededRights.filter((_, i) => !allowed[i]).map(({ verb, resource }) => `${verb} ${resource}`);
}
