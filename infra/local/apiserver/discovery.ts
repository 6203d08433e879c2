/** What clients such as kubectl ask first: which groups, versions and resources there are. */
import { type KindFacts, kindFacts, type StoreKind, storeKinds } from './api-kinds.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The answer to a path of discovery, or undefined for any other path. */
export function discoveryOf(path: string): object | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups() };
  const kinds = storeKinds.filter((kind) => kindFacts[kind].root === path);
  const [first] = kinds;
  if (!first) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: kindFacts[first].apiVersion,
    resources: kinds.flatMap((kind) => resourcesOf(kind, kindFacts[kind])),
  };
}

function groups(): readonly object[] {
  const versions = new Set(storeKinds.map((kind) => kindFacts[kind].apiVersion));
  return [...versions]
    .filter((groupVersion) => groupVersion.includes('/'))
    .map((groupVersion) => {
      const [name, version] = groupVersion.split('/');
      const only = { groupVersion, version };
      return { name, versions: [only], preferredVersion: only };
    });
}

function resourcesOf(
  kind: StoreKind,
  { plural, namespaced, shortNames, hasStatus, hasScale }: KindFacts,
): readonly object[] {
  const of = (subresource: string) => ({ name: `${plural}/${subresource}`, singularName: '', namespaced });
  const writing = ['get', 'patch', 'update'];
  return [
    {
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs,
      ...(shortNames && { shortNames }),
    },
    ...(hasStatus ? [{ ...of('status'), kind, verbs: writing }] : []),
    ...(hasScale
      ? [{ ...of('scale'), group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: writing }]
      : []),
  ];
}
