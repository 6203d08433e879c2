/**
 * The true state of the clusters of a set, and the expected objects by the rules of the Multi-Cluster
 * Services API.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { type ExportedService, settledWinner } from '#shared/clusterset/exports/precedence.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import {
  annotationClusterset,
  importsManagedBy,
  labelMcsService,
  labelServiceName,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { setKey } from '#shared/store/keys.ts';
import { hostileName } from './hostile-relay.ts';
import { newField } from './newer-entries.ts';
import { namespacesOf, type SetMember, type SetState } from './set-state.ts';

type Ports = readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
type Conditions = readonly { readonly type: string; readonly status: string }[];

export const selectorOf = (service: RawObject | undefined): string | undefined =>
  (service?.spec?.['selector'] as { readonly app?: string } | undefined)?.app;

const portsOf = (service: RawObject): Ports => (service.spec?.['ports'] ?? []) as Ports;

/** Returns true if the cluster's own state makes the export valid, apart from the hub's switch. */
export function isExported({ store }: Pick<SetMember, 'store'>, namespace: string, name: string): boolean {
  const service = store.find('Service', namespace, name);
  const serviceExport = store.find('ServiceExport', namespace, name);
  if (
    !service ||
    !serviceExport ||
    service.metadata.deletionTimestamp ||
    serviceExport.metadata.deletionTimestamp
  )
    return false;
  return (
    service.spec?.['type'] !== 'ExternalName' &&
    service.metadata.labels?.[labelMcsService] === undefined &&
    selectorOf(service) !== undefined
  );
}

const isReady = ({ status }: RawObject): boolean =>
  ((status?.['conditions'] ?? []) as Conditions).some((c) => c.type === 'Ready' && c.status === 'True');

/** Does the Service select the pod, and may it have an address of it, ready or not? */
const isEndpoint = (pod: RawObject, service: RawObject): boolean =>
  pod.metadata.labels?.['app'] === selectorOf(service) && Boolean(pod.status?.['podIP']) && !isOver(pod);

const isOver = ({ status }: RawObject): boolean =>
  status?.['phase'] === 'Succeeded' || status?.['phase'] === 'Failed';

export const isReadyEndpoint = (pod: RawObject, service: RawObject): boolean =>
  isEndpoint(pod, service) &&
  (service.spec?.['publishNotReadyAddresses'] === true || (isReady(pod) && !pod.metadata.deletionTimestamp));

export const addressesIn = (slice: object): readonly { readonly ip: string; readonly ready: boolean }[] =>
  ((slice as EndpointSlice).endpoints ?? []).map((e) => ({
    ip: e.addresses[0] ?? '',
    ready: e.conditions?.ready !== false,
  }));

export const importedSlices = (
  { store }: SetMember,
  namespace: string,
  name: string,
): readonly EndpointSlice[] =>
  store
    .list('EndpointSlice', namespace)
    .filter(
      ({ metadata: { labels = {} } }) =>
        labels[labelMcsService] === name && labels[labelSliceManagedBy] === importsManagedBy,
    );

/** Ready addresses of a source in the slices of an import. */
export const showsIn = (
  member: SetMember,
  namespace: string,
  name: string,
  source: string,
): ReadonlySet<string> =>
  new Set(
    importedSlices(member, namespace, name)
      .filter((s) => s.metadata.labels?.[labelSourceCluster] === source)
      .flatMap((s) => addressesIn(s).flatMap(({ ip, ready }) => (ready ? [ip] : []))),
  );

/** Slices of a silent source are copied for a derived Service that is made again. */
export function hasCopies(
  member: SetMember,
  { namespace, name, source }: { readonly namespace: string; readonly name: string; readonly source: string },
  slice: object,
  listed: readonly EndpointSlice[] = [],
): boolean {
  const isOf = ({ metadata }: EndpointSlice): boolean =>
    metadata.namespace === namespace &&
    metadata.labels?.[labelMcsService] === name &&
    metadata.labels?.[labelSourceCluster] === source;
  const ofSource = [...importedSlices(member, namespace, name), ...listed].filter(isOf);
  const there = new Set(ofSource.flatMap((s) => addressesIn(s).map((a) => JSON.stringify(a))));
  return addressesIn(slice).every((a) => there.has(JSON.stringify(a)));
}

/**
 * Returns the errors of every exported or imported name. With `resynced`, changes without an event, as
 * upstream has (PK-8), must be handled too.
 */
export async function setErrors(world: SetState, resynced: boolean): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const namespace of namespacesOf(world.profile)) {
    const named = world.members.flatMap(({ store }) => [
      ...store.list('ServiceExport', namespace),
      ...store.list('ServiceImport', namespace),
    ]);
    // The attacker's own exports are not checked.
    for (const name of new Set(named.map((o) => o.metadata.name).filter((n) => !n.startsWith(hostileName)))) {
      const merged = await mergeOf(world, namespace, name);
      for (const member of world.present) {
        if (resynced || !(await hidesRestore(world, member)))
          wrong.push(...exportErrors(member, { namespace, name, merged, resynced }));
        if (member.takesPart.imports)
          wrong.push(...importErrors(world, member, { namespace, name, merged, resynced }));
      }
    }
  }
  return wrong;
}

/**
 * Has the hub taken a restore for none? The conditions that a run wrote in the lost history, of an export that
 * looks as it did, stand until the resync then (docs/develop/architecture.md, "Not guaranteed").
 */
export const hidesRestore = async ({ table }: SetState, { cluster, wentBack }: SetMember): Promise<boolean> =>
  wentBack && (await readCluster(table, cluster))?.incarnation === 1;

interface Name {
  readonly namespace: string;
  readonly name: string;
  readonly merged: MergedExports | undefined;
  readonly resynced: boolean;
}

/** Merges by the true state of all clusters. The first export decides, which only the table remembers. */
async function mergeOf(world: SetState, namespace: string, name: string): Promise<MergedExports | undefined> {
  const textOf = async (...entry: readonly string[]): Promise<string | undefined> =>
    (await world.table.get(setKey('default', namespace, name, ...entry)))?.['f'] as string | undefined;
  const exports: ExportedService[] = [];
  for (const { cluster, store, takesPart } of world.present) {
    const serviceExport = takesPart.exports && store.find('ServiceExport', namespace, name);
    if (!serviceExport || serviceExport.metadata.deletionTimestamp) continue;
    if (isExported({ store }, namespace, name))
      exports.push(exportedBy(cluster, serviceExport, store.get('Service', namespace, name)));
    else {
      // Its Service is gone. The export stays in the set if it was valid before, which only the table
      // remembers.
      const text = await textOf('E', cluster);
      if (text !== undefined) exports.push(JSON.parse(text) as ExportedService);
    }
  }
  return mergeExports(exports, settledWinner(await textOf('W'), world.scheduler.now));
}

const exportedBy = (cluster: string, { metadata, spec }: RawObject, service: RawObject): ExportedService => ({
  cluster,
  uid: metadata.uid ?? '',
  createdAt: metadata.creationTimestamp as string | undefined,
  labels: (spec?.exportedLabels ?? {}) as ExportedService['labels'],
  annotations: (spec?.exportedAnnotations ?? {}) as ExportedService['annotations'],
  spec: service.spec ?? {},
});

function exportErrors(member: SetMember, { namespace, name, merged }: Name): readonly string[] {
  const found = member.store.find('ServiceExport', namespace, name);
  if (!found || !member.takesPart.exports) return [];
  const isInSet = merged?.clusters.includes(member.cluster) ?? false;
  const isValid = isExported(member, namespace, name);
  const conditions = new Map((found.status?.conditions ?? []).map((c) => [c.type, c]));
  const expected = {
    Valid: isValid ? 'True' : 'False',
    Ready: isValid ? 'True' : 'False',
    Conflict: isInSet && merged !== undefined && merged.conflicts.length > 0 ? 'True' : 'False',
  };
  const reasons = isInSet ? (merged?.conflicts ?? []).map((c) => c.reason).join(',') : '';
  return [
    ...Object.entries(expected).flatMap(([type, status]) =>
      conditions.get(type)?.status === status
        ? []
        : [
            `export ${namespace}/${name} of ${member.cluster}: ${type} is ${conditions.get(type)?.status} and not ${status}`,
          ],
    ),
    ...(reasons !== '' && conditions.get('Conflict')?.reason !== reasons
      ? [
          `export ${namespace}/${name} of ${member.cluster}: conflicts ${conditions.get('Conflict')?.reason} and not ${reasons}`,
        ]
      : []),
  ];
}

export function takesImports(world: SetState, { store }: SetMember, namespace: string): boolean {
  const found = store.find('Namespace', '', namespace);
  if (!found || found.metadata.deletionTimestamp) return false;
  return world.set.sameness === 'all' || found.metadata.labels?.[annotationClusterset] === 'default';
}

function importErrors(
  world: SetState,
  member: SetMember,
  { namespace, name, merged, resynced }: Name,
): readonly string[] {
  const what = `import ${namespace}/${name} in ${member.cluster}`;
  const { store } = member;
  const found = store.find('ServiceImport', namespace, name);
  const derived = store.find('Service', namespace, derivedName(namespace, name));
  const slices = importedSlices(member, namespace, name);
  if (!merged || !takesImports(world, member, namespace))
    return [found, derived, ...slices].filter((o) => o !== undefined).length === 0
      ? []
      : [`${what} is there, and is to be gone`];
  // It came and went between two relays (docs/develop/architecture.md, "Not guaranteed").
  const mayBeUnheardOf =
    (world.profile.relayKills > 0 || world.set.silentMs > 0) &&
    member.deletedImports.has(`${namespace}/${name}`);
  if (!found && mayBeUnheardOf && !resynced) return [];
  if (!found || !derived) return [`${what}: ${found ? 'derived Service' : 'ServiceImport'} missing`];
  const says = (field: string, is: unknown, wanted: unknown): readonly string[] =>
    JSON.stringify(is) === JSON.stringify(wanted)
      ? []
      : [`${what}: ${field} is ${JSON.stringify(is)} and not ${JSON.stringify(wanted)}`];
  const text = (ports: Ports): readonly string[] => ports.map((p) => `${p.name} ${p.port}`).sort();
  const type = derived.spec?.clusterIP === 'None' ? 'Headless' : 'ClusterSetIP';
  return [
    ...says('type', [found.spec.type, type], [merged.spec.type, merged.spec.type]),
    ...says('a field of a newer version', JSON.stringify([found, derived]).includes(newField), false),
    ...says('ports', text(found.spec.ports as Ports), text(merged.spec.ports as Ports)),
    ...says(
      'ports of the derived Service',
      text((derived.spec?.ports ?? []) as Ports),
      text(merged.spec.ports as Ports),
    ),
    ...says(
      'addresses of the import',
      found.spec.ips,
      type === 'Headless' ? undefined : derived.spec?.clusterIPs,
    ),
    ...says(
      'clusters',
      (found.status?.clusters ?? []).map((c) => c.cluster),
      [...merged.clusters].sort(),
    ),
    ...says('owner', derived.metadata.ownerReferences?.[0]?.uid, found.metadata.uid),
    ...says(
      'slices of another Service',
      slices
        .filter((s) => s.metadata.labels?.[labelServiceName] !== derived.metadata.name)
        .map((s) => s.metadata.name),
      [],
    ),
    ...(resynced || !merged.clusters.some((id) => hasEnded(world.of(id), namespace, name))
      ? says(
          'endpoints',
          shown(slices),
          merged.clusters.flatMap((id) => offered(world.of(id), namespace, name, merged)).sort(),
        )
      : []),
  ];
}

/** Does the service select a pod that has run to its end? */
const hasEnded = ({ store }: SetMember, namespace: string, name: string): boolean =>
  store
    .list('Pod', namespace)
    .some(
      (p) => isOver(p) && p.metadata.labels?.['app'] === selectorOf(store.find('Service', namespace, name)),
    );

const shown = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices
    .flatMap((s) =>
      addressesIn(s).map(({ ip, ready }) => `${s.metadata.labels?.[labelSourceCluster]} ${ip} ${ready}`),
    )
    .sort();

/** The endpoints of a source that an import has to have. */
function offered(
  { cluster, store, takesPart, network }: SetMember,
  namespace: string,
  name: string,
  merged: MergedExports,
): readonly string[] {
  const service = store.find('Service', namespace, name);
  if (!service) return [];
  const exposed = portsOf(service).filter((own) =>
    merged.spec.ports.some((m) => m.name === own.name && m.port === own.port),
  );
  if (exposed.length === 0) return [];
  return store
    .list('Pod', namespace)
    .filter((pod) => isEndpoint(pod, service))
    .flatMap((pod) => {
      const ip = String(pod.status?.['podIP']);
      return takesPart.holdsRanges && !ip.startsWith(`${network}.`)
        ? []
        : [`${cluster} ${ip} ${isReadyEndpoint(pod, service)}`];
    });
}
