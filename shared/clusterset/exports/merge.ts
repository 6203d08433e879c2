/**
 * The merge of the exports of one name (MC-13..17, MC-56). Every cluster computes it by itself from the same
 * records, without a leader: so it is total, and the order of the exports makes no difference.
 */

import { type Locality, localityOfExport } from '#shared/clusterset/imports/locality.ts';
import { sameLabels } from '#shared/kube/labels.ts';
import type { ImportSpec, ImportType } from '#shared/kube/mcs-types.ts';
import { annotationMinLocal, annotationPrefer } from '#shared/kube/names.ts';
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type { AddressType } from '#shared/kube/types.ts';
import { mergePorts } from './merge-ports.ts';
import { type ExportedService, inPrecedence, type Winner } from './precedence.ts';

export type ConflictReason =
  | 'PortConflict'
  | 'TypeConflict'
  | 'SessionAffinityConflict'
  | 'SessionAffinityConfigConflict'
  | 'InternalTrafficPolicyConflict'
  | 'TrafficDistributionConflict'
  | 'PreferConflict'
  | 'MinLocalConflict'
  | 'IPFamilyConflict'
  | 'LabelsConflict'
  | 'AnnotationsConflict';

export interface Conflict {
  readonly reason: ConflictReason;
  readonly message: string;
}

export interface MergedExports {
  readonly winner: Winner;
  /**
   * Without `ips`, which are those of the importing cluster's derived Service. `ipFamilies`: none where none
   * is known.
   */
  readonly spec: Omit<ImportSpec, 'ips'> & { readonly ipFamilies: readonly AddressType[] };
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  /** Undefined: any endpoint is as good as another. */
  readonly locality?: Locality;
  /** The exporting clusters, in the order of their precedence. */
  readonly clusters: readonly string[];
  /** Said on every export of the name, the winner's too (MC-14). */
  readonly conflicts: readonly Conflict[];
}

/**
 * `exports` are the valid exports of a name, one for each cluster. `winner` is the export that goes on deciding
 * where they differ. Returns undefined without exports, so the import is deleted.
 */
export function mergeExports(
  exports: readonly ExportedService[],
  winner?: Winner,
): MergedExports | undefined {
  const ordered = inPrecedence(exports, winner);
  const [first] = ordered;
  if (!first) return undefined;
  const { ports, conflict } = mergePorts(ordered);
  const families = familiesOf(ordered);
  const { trafficDistribution } = first.spec;
  const sessionAffinity = affinityOf(first);
  const locality = localityOfExport(first.locality, trafficDistribution);
  return {
    winner: { cluster: first.cluster, uid: first.uid },
    spec: {
      type: typeOf(first),
      ports,
      ipFamilies: families.common,
      sessionAffinity,
      // The API server refuses it without ClientIP.
      ...(sessionAffinity === 'ClientIP' && {
        sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds(first) } },
      }),
      internalTrafficPolicy: policyOf(first),
      ...(trafficDistribution && { trafficDistribution }),
    },
    labels: first.labels,
    annotations: first.annotations,
    ...(locality && { locality }),
    clusters: ordered.map((e) => e.cluster),
    conflicts: [
      ...(conflict === undefined ? [] : [{ reason: 'PortConflict', message: conflict } as const]),
      ...fields.flatMap((field) => disagreement(field, first, ordered)),
      ...(families.missing.length === 0
        ? []
        : [{ reason: 'IPFamilyConflict', message: withoutFamily(families, first, ordered) } as const]),
    ],
  };
}

const typeOf = ({ spec }: ExportedService): ImportType =>
  hasClusterIPNone({ metadata: { name: '' }, spec }) ? 'Headless' : 'ClusterSetIP';

/** The API server's defaults, which the projection leaves out. */
const affinityOf = ({ spec }: ExportedService): string => spec.sessionAffinity ?? 'None';
const affinitySeconds = ({ spec }: ExportedService): number =>
  spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800;
const policyOf = ({ spec }: ExportedService): string => spec.internalTrafficPolicy ?? 'Cluster';

interface Field {
  readonly reason: ConflictReason;
  readonly name: string;
  readonly shown: (e: ExportedService) => string;
  readonly isSame: (a: ExportedService, b: ExportedService) => boolean;
}

const textField = (reason: ConflictReason, name: string, shown: Field['shown']): Field => ({
  reason,
  name,
  shown,
  isSame: (a, b) => shown(a) === shown(b),
});

const fields: readonly Field[] = [
  textField('TypeConflict', 'type', typeOf),
  textField('SessionAffinityConflict', 'sessionAffinity', affinityOf),
  textField('SessionAffinityConfigConflict', 'sessionAffinityConfig.clientIP.timeoutSeconds', (e) =>
    affinityOf(e) === 'ClientIP' ? String(affinitySeconds(e)) : '',
  ),
  textField('InternalTrafficPolicyConflict', 'internalTrafficPolicy', policyOf),
  textField('TrafficDistributionConflict', 'trafficDistribution', (e) => e.spec.trafficDistribution ?? ''),
  textField('PreferConflict', annotationPrefer, (e) => e.locality?.prefer ?? 'any'),
  textField('MinLocalConflict', annotationMinLocal, (e) =>
    e.locality?.minLocal === undefined ? 'none' : `${e.locality.minLocal}%`,
  ),
  {
    reason: 'LabelsConflict',
    name: 'exportedLabels',
    shown: () => '',
    isSame: (a, b) => sameLabels(a.labels, b.labels),
  },
  {
    reason: 'AnnotationsConflict',
    name: 'exportedAnnotations',
    shown: () => '',
    isSame: (a, b) => sameLabels(a.annotations, b.annotations),
  },
];

function disagreement(
  { reason, name, shown, isSame }: Field,
  first: ExportedService,
  all: readonly ExportedService[],
): readonly Conflict[] {
  const others = all.filter((e) => !isSame(e, first)).length;
  if (others === 0) return [];
  const value = shown(first);
  const using = `Using ${value === '' ? 'the value' : JSON.stringify(value)} of cluster "${first.cluster}", whose export has precedence.`;
  return [{ reason, message: `Conflicting ${name}. ${using} ${others}/${all.length} clusters disagree.` }];
}

interface Families {
  readonly common: readonly AddressType[];
  /** Clusters that a family of the import does not reach. */
  readonly missing: readonly string[];
}

/**
 * The families of the export with precedence, or of the next export that names any. Other exports change none
 * of them: a live import would lose an address, and a cluster without the remaining family the whole import.
 * A cluster without one of them is a conflict, as its traffic reaches a subset (MC-17).
 */
function familiesOf(ordered: readonly ExportedService[]): Families {
  const own = ordered.map(({ cluster, spec }) => ({
    cluster,
    families: (['IPv4', 'IPv6'] as const).filter((family) => spec.ipFamilies?.includes(family)),
  }));
  const known = own.filter(({ families }) => families.length > 0);
  const common = known[0]?.families ?? [];
  const missing = known
    .filter(({ families }) => common.some((family) => !families.includes(family)))
    .map(({ cluster }) => cluster);
  return { common, missing };
}

function withoutFamily(
  { common, missing }: Families,
  first: ExportedService,
  all: readonly ExportedService[],
): string {
  const using = `Using ${common.join(', ')} of cluster "${first.cluster}", whose export has precedence.`;
  return `Conflicting ipFamilies. ${using} ${missing.length}/${all.length} clusters lack one of them and get no traffic of it: ${missing.join(', ')}.`;
}
