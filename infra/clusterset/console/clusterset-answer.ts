/**
 * Reads the clusters of the hub's sets and each exported name. It reads a few partitions of each cluster,
 * independent of the number of pods.
 */

import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { isHalfSilent } from '#shared/clusterset/imports/source-state.ts';
import {
  exportsAnything,
  importsAnything,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { readSetNamespace, type SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { listImportReports } from '#shared/clusterset/store/import-report.ts';
import { concurrently } from '#shared/concurrently.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { Service } from '#shared/kube/types.ts';
import { decodeObjectOf, objectsIn, readObject } from '#shared/store/inputs/objects.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import { type Member, memberRow, type NameOfSet, setServiceRow } from './clusterset-rows.ts';
import type { ClustersetAnswer } from './clusterset-types.ts';

export async function clustersetAnswer(table: Table, now: number): Promise<ClustersetAnswer> {
  const records = await concurrently(16, await listClusters(table), (id) => readCluster(table, id));
  const found = await concurrently(
    8,
    records.filter((r) => r !== undefined && !isDeregistered(r)) as readonly ClusterRecord[],
    (record) => readMember(table, record, now),
  );
  const members = found.filter(takesPart);
  const names = await readNames(table, members);
  const services = names.map((name) => setServiceRow(name, members, now));
  const witnesses = members.map(({ record }) => ({
    witness: witnessOf(record),
    region: membershipOf(record).region,
  }));
  return {
    members: members.map((member) => memberRow(member, services, now)),
    isHalfSilent: isHalfSilent(witnesses, now),
    services,
  };
}

/** Returns true if the cluster exports or imports, or has objects left from an earlier time. */
const takesPart = ({ record, exports, imports }: Member): boolean =>
  exportsAnything(record) || importsAnything(record) || exports.size > 0 || imports.size > 0;

/**
 * Bound on the pending work items that are read. Imports that wait for their turn count too. A cluster with
 * more is behind with all its imports.
 */
const maxPending = 1_000;

async function readMember(table: Table, record: ClusterRecord, now: number): Promise<Member> {
  const imports = importsAnything(record);
  const [exported, imported, namespaces, reports, pending] = await Promise.all([
    objectsIn({ table, cluster: record.id }, 'ServiceExport', ''),
    objectsIn({ table, cluster: record.id }, 'ServiceImport', ''),
    imports ? objectsIn({ table, cluster: record.id }, 'Namespace', '') : [],
    imports ? listImportReports(table, record.id) : [],
    imports ? table.queryDirty(record.id, now + maxDelaySeconds * 1000, maxPending) : [],
  ]);
  const keyed = <O extends { readonly metadata: { readonly namespace?: string; readonly name: string } }>(
    objects: readonly O[],
  ) => new Map(objects.map((o) => [`${o.metadata.namespace}/${o.metadata.name}`, o] as const));
  return {
    record,
    exports: keyed(exported),
    imports: new Set(keyed(imported).keys()),
    namespaces: new Map(namespaces.map((n) => [n.metadata.name, n] as const)),
    reports: new Map(reports.map((r) => [`${r.namespace}/${r.name}`, r.report] as const)),
    pending: new Map(
      pending.flatMap(({ pk, dirtyAt }) => {
        const { namespace, kind, name } = parseWorkKey(pk);
        return kind === 'import' ? [[`${namespace}/${name}`, dirtyAt] as const] : [];
      }),
    ),
  };
}

/**
 * Returns each name that a cluster exports, has a ServiceExport for, or imports while its exporters are
 * unknown.
 */
async function readNames(table: Table, members: readonly Member[]): Promise<readonly NameOfSet[]> {
  const places = new Map<string, { readonly set: string; readonly namespace: string }>();
  for (const { record, exports, imports } of members) {
    const { set } = membershipOf(record);
    for (const key of [...exports.keys(), ...imports]) {
      const namespace = key.slice(0, key.indexOf('/'));
      places.set(`${set} ${namespace}`, { set, namespace });
    }
  }
  const perPlace = await concurrently(16, [...places.values()], async ({ set, namespace }) => {
    const entries = new Map(await listed(readSetNamespace(table, set, namespace)));
    const ofSet = members.filter((m) => membershipOf(m.record).set === set);
    const keys = ofSet.flatMap((m) => [
      ...m.exports.keys(),
      ...[...m.reports].flatMap(([key, { unknown }]) => (unknown ? [key] : [])),
    ]);
    const wanted = keys.filter((key) => key.startsWith(`${namespace}/`));
    const names = new Set([
      ...wanted.map((key) => key.slice(namespace.length + 1)),
      ...[...entries].filter(([, e]) => e.exportTexts.size > 0).map(([n]) => n),
    ]);
    return concurrently(8, [...names].sort(), (name) =>
      readName(table, { set, namespace, name, entries: entries.get(name) ?? noEntries }, ofSet),
    );
  });
  return perPlace.flat().sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}

const noEntries: SetEntries = { exportTexts: new Map(), winner: undefined };

/** Reads the Services of exports that are missing in the set, because they explain why. */
async function readName(
  table: Table,
  name: Omit<NameOfSet, 'unmerged'>,
  members: readonly Member[],
): Promise<NameOfSet> {
  const key = `${name.namespace}/${name.name}`;
  const unmerged = members.filter((m) => m.exports.has(key) && !name.entries.exportTexts.has(m.record.id));
  const services = await concurrently(
    4,
    unmerged,
    async ({ record: { id } }): Promise<readonly [string, Service | undefined]> => {
      const stored = await readObject({ table, cluster: id }, 'Service', name.namespace, name.name);
      return [id, decodeObjectOf('Service', stored)];
    },
  );
  return { ...name, unmerged: new Map(services) };
}
