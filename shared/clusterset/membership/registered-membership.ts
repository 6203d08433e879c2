/**
 * The effect of a registration on the membership of a cluster in a set. Register writes the values of
 * clusters.yaml. An operator can also switch imports and the namespaces of exports. Such a switch stays until
 * its value in clusters.yaml differs from the registration before.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterState } from '#shared/clusters/record.ts';
import { decodeMode, isDeregistered } from '#shared/clusters/writer/mode.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import type { Item, Table, Value } from '#shared/store/table.ts';
import {
  exportsAnyOf,
  importsAnyOf,
  membershipAttributes,
  membershipNames,
  membershipOf,
  namespacesText,
  noteImporter,
  storedMembership,
} from './clusterset-membership.ts';

/** The membership of the last registration, as text. */
const registered = 'clustersetFile';

interface RegisteredMembership {
  readonly attributes: { readonly [attribute: string]: Value };
  readonly membership: ClustersetMembership;
  readonly isChanged: boolean;
}

/** `given` is undefined for a cluster that neither exports nor imports. */
function registeredMembership(
  known: Item | undefined,
  given: ClustersetMembership | undefined,
): RegisteredMembership {
  // A deregistered cluster that is registered again counts as new.
  const before = known && !isDeregistered({ mode: decodeMode(known) }) ? known : undefined;
  const current = before ? membershipOf(storedMembership(before)) : noMembership;
  const former = formerMembership(before?.[registered]);
  if (!given && !former) return { attributes: {}, membership: current, isChanged: false };
  const next = given ?? { ...noMembership, set: current.set };
  const membership = former ? merged(current, former, next) : next;
  const isChanged = !isDeepStrictEqual(membership, current);
  refuseOtherSet(current, membership);
  const attributes = {
    [registered]: given ? JSON.stringify(given) : '',
    ...(isChanged && membershipAttributes(membership)),
  };
  return { attributes, membership, isChanged };
}

const formerMembership = (text: Value | undefined): ClustersetMembership | undefined =>
  typeof text === 'string' && text !== '' ? (JSON.parse(text) as ClustersetMembership) : undefined;

function refuseOtherSet(current: ClustersetMembership, next: ClustersetMembership): void {
  if (next.set === current.set || !(exportsAnyOf(current) || importsAnyOf(current))) return;
  throw new RangeError(
    `it is in the clusterset ${current.set} and can't go to ${next.set} while it exports or imports: what it has imported bears the name of its set. Take its imports and exports out first (docs/use/clusterset.md)`,
  );
}

function merged(
  current: ClustersetMembership,
  former: ClustersetMembership,
  next: ClustersetMembership,
): ClustersetMembership {
  const namespaces = isDeepStrictEqual(former.exports.namespaces, next.exports.namespaces)
    ? current.exports.namespaces
    : next.exports.namespaces;
  return {
    ...next,
    ...(former.imports === next.imports && switchOf(current)),
    exports: { ...next.exports, namespaces },
  };
}

const switchOf = ({
  imports,
  withdraws,
}: ClustersetMembership): Pick<ClustersetMembership, 'imports' | 'withdraws'> => ({
  imports,
  ...(withdraws && { withdraws }),
});

/**
 * Returns the attributes of a cluster that is registered again after a rebuild: unchanged, with manual
 * switches.
 */
const keptMembership = (former: Item): { readonly [attribute: string]: Value } =>
  Object.fromEntries(
    [registered, ...membershipNames].flatMap((name) =>
      former[name] === undefined ? [] : [[name, former[name]]],
    ),
  );

export const setRegistration = {
  register: async (
    table: Table,
    cluster: string,
    { known, given }: { readonly known: Item | undefined; readonly given: object | undefined },
  ): Promise<Omit<RegisteredMembership, 'membership'>> => {
    const registered = registeredMembership(known, given as ClustersetMembership | undefined);
    await noteImporter(table, cluster, registered.membership);
    return registered;
  },
  kept: keptMembership,
  switchesText: (cluster: ClusterState | undefined): string => {
    const { imports, exports } = cluster ? membershipOf(cluster) : noMembership;
    return `imports ${imports}, exports ${namespacesText(exports)}`;
  },
};
