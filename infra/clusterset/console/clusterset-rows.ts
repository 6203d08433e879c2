/** Rows of the console for each exported name and each member of a set, from the members' records. */

import { importerStatus } from '#infra/clusterset/ask/explain/importer-status.ts';
import { exportsText } from '#infra/clusterset/ask/explain/set-member-facts.ts';
import { sourceStatus } from '#infra/clusterset/ask/explain/source-status.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { validityOf } from '#shared/clusterset/exports/export-validity.ts';
import { checkExport } from '#shared/clusterset/exports/exported-service.ts';
import { mergeExports } from '#shared/clusterset/exports/merge.ts';
import { type ExportedService, settledWinner } from '#shared/clusterset/exports/precedence.ts';
import { unreadText } from '#shared/clusterset/imports/left-out.ts';
import { importsAnything, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import type { ImportReport } from '#shared/clusterset/store/import-report.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import type { ObjectOfKind, Service } from '#shared/kube/types.ts';
import type { MemberRow, SetServiceRow, StateOfCluster } from './clusterset-types.ts';

/** A cluster of a set, from its records. Keys of maps are "namespace/name". */
export interface Member {
  readonly record: ClusterRecord;
  readonly exports: ReadonlyMap<string, ServiceExport>;
  readonly imports: ReadonlySet<string>;
  readonly namespaces: ReadonlyMap<string, ObjectOfKind['Namespace']>;
  readonly reports: ReadonlyMap<string, ImportReport>;
  /** Imports with a pending run, with its time in ms since the epoch. */
  readonly pending: ReadonlyMap<string, number>;
}

export interface NameOfSet {
  readonly set: string;
  readonly namespace: string;
  readonly name: string;
  readonly entries: SetEntries;
  /** Services of exports that are missing in the set, by cluster. */
  readonly unmerged: ReadonlyMap<string, Service | undefined>;
}

type Source = SetServiceRow['sources'][number];

export function setServiceRow(nameOfSet: NameOfSet, all: readonly Member[], now: number): SetServiceRow {
  const { set, namespace, name, entries } = nameOfSet;
  const members = all.filter((m) => membershipOf(m.record).set === set);
  const key = `${namespace}/${name}`;
  const memberOf = (cluster: string): Member | undefined => members.find((m) => m.record.id === cluster);
  const published = [...entries.exportTexts].flatMap(([cluster, text]) =>
    memberOf(cluster) ? [JSON.parse(text) as ExportedService] : [],
  );
  const merged = mergeExports(published, settledWinner(entries.winner, now));
  const mergedSources = (merged?.clusters ?? []).flatMap((cluster): readonly Source[] => {
    const member = memberOf(cluster);
    return member ? [{ cluster, ...sourceStatus(member.record, now) }] : [];
  });
  const unmerged = [...nameOfSet.unmerged].map(([cluster, service]) =>
    unmergedSource(nameOfSet, memberOf(cluster), cluster, service),
  );
  const silent = mergedSources.filter((s) => s.state === 'silent').map((s) => s.cluster);
  const importers = members
    .filter((m) => importsAnything(m.record) || m.imports.has(key))
    .map((member): SetServiceRow['importers'][number] => {
      const status = importerStatus({
        record: member.record,
        namespaceName: namespace,
        namespace: member.namespaces.get(namespace),
        isExported: merged !== undefined,
        report: member.reports.get(key),
        dirtySinceMs: member.pending.get(key),
        failures: 0,
        ranAtMs: 0,
        silent,
        now,
      });
      return { cluster: member.record.id, ...status };
    });
  const sentence = ({ cluster, state, why }: StateOfCluster<string>): string =>
    `${cluster} is ${state}: ${why}`;
  return {
    set,
    namespace,
    name,
    sources: [...mergedSources, ...unmerged],
    importers,
    remarks: [
      ...(merged?.conflicts.map((c) => `${c.reason}: ${c.message}`) ?? []),
      ...[...mergedSources, ...unmerged].filter((s) => s.state !== 'fresh').map(sentence),
      ...importers.filter((i) => i.state === 'refused' || i.state === 'pending').map(sentence),
      ...together(members.flatMap((member) => reportRemarks(member, key))),
    ],
  };
}

function unmergedSource(
  { namespace, name }: NameOfSet,
  member: Member | undefined,
  cluster: string,
  service: Service | undefined,
): Source {
  const exported = member?.exports.get(`${namespace}/${name}`);
  if (!member || !exported) return { cluster, state: 'not valid', why: 'its export is deleted' };
  const { optIn } = member.record;
  const isDeleting = exported.metadata.deletionTimestamp !== undefined;
  const allowed = membershipOf(member.record).exports.namespaces;
  const { validity } = checkExport(
    cluster,
    exported,
    validityOf({ namespace, name, isDeleting, service, allowed, optsIn: optIn !== 'off' }),
  );
  const why = validity.valid ? 'the run of its export is pending' : `${validity.reason}, ${validity.message}`;
  return { cluster, state: 'not valid', why };
}

/** Number of endpoints and clusters named in a row. The explanation has all of them. */
const shownLeftOut = 3;

interface Remark {
  readonly cluster: string;
  readonly text: string;
}

function reportRemarks({ record: { id }, reports }: Member, key: string): readonly Remark[] {
  const { leftOut = [], leftOutCount = 0, held = [], unread = [] } = reports.get(key) ?? {};
  const more = leftOutCount > shownLeftOut ? ` and ${leftOutCount - shownLeftOut} more` : '';
  return [
    ...(leftOutCount > 0
      ? [{ cluster: id, text: `left out: ${leftOut.slice(0, shownLeftOut).join('; ')}${more}` }]
      : []),
    ...unread.map((source) => ({ cluster: id, text: unreadText(source) })),
    ...held.map((source) => ({
      cluster: id,
      text: `the eviction of ${source} is held: other sources are not ready for each port that it serves`,
    })),
  ];
}

/** Merges equal remarks of several importers, because importers usually have the same. */
const together = (remarks: readonly Remark[]): readonly string[] =>
  [...Map.groupBy(remarks, (r) => r.text)].map(([text, same]) => {
    const clusters = same.map((r) => r.cluster);
    const more = clusters.length > shownLeftOut ? ` and ${clusters.length - shownLeftOut} more` : '';
    return `${clusters.slice(0, shownLeftOut).join(', ')}${more}: ${text}`;
  });

export function memberRow(
  { record, reports, exports }: Member,
  services: readonly SetServiceRow[],
  now: number,
): MemberRow {
  const { id } = record;
  const { set, imports } = membershipOf(record);
  const own = services.filter((s) => s.set === set);
  const sources = own.flatMap((s) => s.sources.filter((c) => c.cluster === id));
  const importers = own.flatMap((s) => s.importers.filter((c) => c.cluster === id));
  const all = [...reports.values()];
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return {
    cluster: id,
    set,
    exports: exportsText(record) ?? (exports.size > 0 ? 'nothing (any more)' : 'nothing'),
    imports,
    ...sourceStatus(record, now),
    exported: sources.filter((s) => s.state !== 'not valid').length,
    refused: sources.filter((s) => s.state === 'not valid').length,
    imported: importers.filter((i) => i.state === 'imported').length,
    pending: importers.filter((i) => i.state === 'pending').length,
    inTheWay: importers.filter((i) => i.state === 'refused').length,
    leftOut: sum(all.map((r) => r.leftOutCount ?? 0)),
    collisions: sum(all.map((r) => r.collisions ?? 0)),
    held: sum(all.map((r) => r.held?.length ?? 0)),
  };
}
