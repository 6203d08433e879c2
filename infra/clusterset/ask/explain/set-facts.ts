/** Labelled lines about a cluster's own export and own import. */

import type {
  Fact,
  ImporterExplanation,
  SetExplanation,
  SourceExplanation,
} from '#infra/cli/ask/explain/explanation.ts';
import { fact, timeText } from '#infra/cli/ask/explain/facts.ts';
import { staysInSet, validityOf } from '#shared/clusterset/exports/export-validity.ts';
import { type CheckedExport, checkExport } from '#shared/clusterset/exports/exported-service.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { isOurImport } from '#shared/clusterset/imports/import-ownership.ts';
import { unreadText } from '#shared/clusterset/imports/left-out.ts';
import { askedLocality, type Locality, localityText } from '#shared/clusterset/imports/locality.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { unknownText } from './importer-status.ts';
import type { ImporterInput, SetInput } from './set-input.ts';
import { sourceStatus } from './source-status.ts';

export function exportFacts(
  input: SetInput,
  merged: MergedExports | undefined,
  { importers, sources }: Pick<SetExplanation, 'importers' | 'sources'>,
): { readonly summary: string; readonly facts: readonly Fact[] } {
  const { cluster, serviceExport, now } = input;
  const { validity, problems } = ownExport(input);
  const asked = askedLocality(serviceExport?.metadata.annotations);
  const valid = validity.valid ? 'yes' : `no, ${validity.reason}: ${validity.message}`;
  // A run that is pending, or refused a part, leaves what the one before wrote.
  const hasWritten = (id: string): boolean =>
    input.importers
      .find(({ record }) => record.id === id)
      ?.report?.report.written?.some((w) => w.cluster === cluster.id) === true;
  const others = importers
    .filter((i) => i.cluster !== cluster.id && (i.state === 'imported' || hasWritten(i.cluster)))
    .map((i) => i.cluster);
  const own = sources.find((source) => source.cluster === cluster.id);
  const reach = others.length > 0 ? `imported by ${others.join(' and ')}` : 'imported by no other cluster';
  const standing = sourceStatus(cluster, now);
  const silent = standing.state === 'fresh' ? '' : `; it is ${standing.state}: ${standing.why}`;
  return {
    summary: validity.valid
      ? `Exported, ${standing.state === 'evicted' ? 'and taken out of every import' : reach}${silent}${withoutAddresses(own)}.`
      : `Its export is not valid (${validity.reason}: ${validity.message}).`,
    facts: [
      ...fact('Valid', valid),
      ...fact('Set', membershipOf(cluster).set),
      ...fact('Published to the set', publishedText(input, validity)),
      ...fact('Created', serviceExport?.metadata.creationTimestamp as string | undefined),
      ...fact('Run', runText(input)),
      ...fact('Precedence', merged && validity.valid ? precedenceText(input, merged) : undefined),
      ...fact(
        'Conflicts',
        merged && merged.conflicts.length > 0 ? merged.conflicts.map((c) => c.reason).join(', ') : 'none',
      ),
      ...fact('Preferred', asked.locality && localityText(asked.locality)),
      ...fact('Problems', problems.length > 0 ? problems.join(' ') : undefined),
      ...fact('Pod ranges', membershipOf(cluster).exports.podCidrs?.join(', ') ?? 'any address'),
    ],
  };
}

/** An import that lists none of the pods is as good as none. */
function withoutAddresses(own: SourceExplanation | undefined): string {
  const [pod] = own?.pods ?? [];
  return own && pod && own.addresses === 0
    ? `; none of its pods is an address there, as ${pod.pod}: ${pod.why}`
    : '';
}

/** Undefined: the set has the export if it is valid, and otherwise lacks it. */
function publishedText(
  { cluster, exportWork, publishedExports }: SetInput,
  validity: CheckedExport['validity'],
): string | undefined {
  const isPublished = publishedExports.some((published) => published.cluster === cluster.id);
  if (isPublished === validity.valid) return undefined;
  if (!isPublished)
    return isClean(exportWork)
      ? 'no: its Valid condition has the reason, for instance TooMany'
      : 'not yet: the run of the export is pending';
  return validity.valid || staysInSet(validity)
    ? 'still: it stays there until the ServiceExport is deleted'
    : 'still: the run that withdraws the export is pending';
}

function runText({ exportWork, now }: SetInput): string {
  if (!isClean(exportWork)) return `pending since ${timeText(exportWork.dirtyAtMs ?? now, now)}`;
  return exportWork.ranAtMs > 0 ? `done ${timeText(exportWork.ranAtMs, now)}` : 'never';
}

function ownExport({
  cluster,
  namespace,
  name,
  serviceExport,
  service,
}: SetInput): Pick<CheckedExport, 'validity' | 'problems'> {
  const isDeleting = serviceExport?.metadata.deletionTimestamp !== undefined;
  const allowed = membershipOf(cluster).exports.namespaces;
  const validity = validityOf({
    namespace,
    name,
    isDeleting,
    service,
    allowed,
    optsIn: cluster.optIn !== 'off',
  });
  return serviceExport ? checkExport(cluster.id, serviceExport, validity) : { validity, problems: [] };
}

export function importFacts(
  input: SetInput,
  own: ImporterInput,
  { why, state }: ImporterExplanation,
  {
    merged,
    hinted,
  }: { readonly merged: MergedExports | undefined; readonly hinted: ReadonlyMap<string, string> | undefined },
): readonly Fact[] {
  const { namespace, name, derived, cluster, now } = input;
  const { serviceImport } = own;
  const { set } = membershipOf(cluster);
  const spec = merged?.spec;
  const ports = (spec?.ports ?? []).map((p) => `${p.name ? `${p.name} ` : ''}${p.port}/${p.protocol}`);
  const address = derived?.spec?.clusterIP;
  return [
    ...fact('State', `${state}: ${why}`),
    ...fact('Set', set),
    ...fact(
      'ServiceImport',
      serviceImport
        ? isOurImport(serviceImport, set)
          ? serviceImport.metadata.deletionTimestamp
            ? 'being deleted'
            : 'exists'
          : `of another implementation: it has no label or annotation of set ${set} (${annotationClusterset})`
        : 'none reported by the relay',
    ),
    ...fact(
      'Derived Service',
      `${derivedName(namespace, name)}${derived ? (address ? `, ${address}` : '') : ': not reported by the relay'}`,
    ),
    ...fact('Type', spec?.type),
    ...fact('Ports', spec && (ports.join(', ') || 'none')),
    ...fact('Families', spec && spec.ipFamilies.length > 0 ? spec.ipFamilies.join(', ') : undefined),
    ...fact('Precedence', merged && precedenceText(input, merged)),
    ...fact('Preferred', hinted && hintedText(merged?.locality, hinted)),
    ...fact('Unknown', own.report?.report.unknown && unknownText(own.report.report.unknown)),
    ...fact('Refused', own.report?.report.refusals?.join('; ')),
    ...fact(
      'Evictions held',
      own.report?.report.held
        ?.map((c) => `${c}: other sources are not ready for each port that it serves`)
        .join('; '),
    ),
    ...fact('Pods not read', own.report?.report.unread?.map(unreadText).join('; ')),
    ...fact(
      'Left out',
      own.report?.report.leftOutCount === undefined
        ? undefined
        : `${own.report.report.leftOutCount} addresses, since ${timeText(own.report.sinceMs, now)}`,
    ),
  ];
}

function hintedText(locality: Locality | undefined, hinted: ReadonlyMap<string, string>): string {
  const families = [...hinted].map(([family, why]) => (hinted.size === 1 ? why : `${family}: ${why}`));
  return `${localityText(locality)}: ${families.join('; ')}`;
}

/** Returns the cluster whose export decides if exports differ, with the reason. */
function precedenceText(
  { publishedExports, winner: before, cluster }: SetInput,
  { winner, clusters }: MergedExports,
): string {
  const who = winner.cluster === cluster.id ? `${winner.cluster} (this cluster)` : winner.cluster;
  if (clusters.length === 1) return `${who}: the only export`;
  if (before) return `${who}: its export has decided so far`;
  const created = publishedExports.find((f) => f.cluster === winner.cluster)?.createdAt;
  return `${who}: its export is the oldest${created ? `, of ${created}` : ''}`;
}
