/** How far a cluster is with the import of a name: the first reason that holds. */
import { hasRuns, isDeregistered } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { excludedNamespaces } from '#shared/clusterset/mcs-names.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import type { Namespace } from '#shared/kube/types.ts';
import type { ImportReport } from '#shared/store/import-report.ts';
import type { ImporterState } from './explanation.ts';
import { timeText } from './facts.ts';

export interface ImporterToJudge {
  readonly record: ClusterRecord;
  readonly namespaceName: string;
  readonly namespace: Namespace | undefined;
  readonly isExported: boolean;
  readonly report: ImportReport | undefined;
  /** Since when a run of the import is owed; undefined: none is. */
  readonly owedSinceMs: number | undefined;
  readonly failures: number;
  /** Sources whose word does not count now. */
  readonly silent: readonly string[];
  /** When the last run ended; 0: none has, or that is not known. */
  readonly ranAtMs: number;
  readonly now: number;
}

export interface ImporterStanding {
  readonly state: ImporterState;
  readonly why: string;
}

export function importerStanding(given: ImporterToJudge): ImporterStanding {
  const { record, isExported, report } = given;
  const leftOut = leftOutFor(given);
  if (leftOut !== undefined) return { state: 'left out', why: leftOut };
  if (!isExported && given.owedSinceMs === undefined) return { state: 'left out', why: 'no cluster exports the name' };
  if (report?.inTheWay) {
    const what =
      report.inTheWay === 'ServiceImport'
        ? 'a ServiceImport of another implementation has the name'
        : 'a Service that the hub did not make has the name of the derived Service';
    return { state: 'refused', why: `${what}: it is left alone` };
  }
  if (report?.notReady !== undefined) return { state: 'refused', why: report.notReady };
  if (given.owedSinceMs !== undefined) return { state: 'owed', why: owed(given, given.owedSinceMs) };
  const ran = given.ranAtMs > 0 ? `; last run ${timeText(given.ranAtMs, given.now)}` : '';
  if (record.clusterset.imports === 'shadow')
    return { state: 'preview', why: `the cluster’s switch for imports is shadow: what would be written is shown${ran}` };
  return { state: 'imported', why: `everything is written${ran}` };
}

/** Why nothing is to be there. */
function leftOutFor({ record, namespaceName, namespace }: ImporterToJudge): string | undefined {
  const { imports, sameness, set } = record.clusterset;
  if (isDeregistered(record)) return 'the cluster was taken out of the fleet: what was imported stays as it is';
  if (imports === 'off') return 'the cluster’s switch for imports is off: what was imported stays as it is';
  if (!hasRuns(record)) return `the cluster is ${record.mode}: what was imported stays as it is`;
  if (excludedNamespaces.includes(namespaceName)) return `nothing is imported into namespace ${namespaceName}`;
  if (record.lists.firstListOf.Namespace !== record.incarnation)
    return 'its relay has not told its namespaces: it does not watch what a set needs, or has just begun';
  if (!namespace) return `the cluster has no namespace ${namespaceName}`;
  if (namespace.metadata.deletionTimestamp) return `namespace ${namespaceName} is being deleted`;
  if (sameness === 'all' || namespace.metadata.labels?.[annotationClusterset] === set) return undefined;
  return `namespace ${namespaceName} has no label ${annotationClusterset}=${set}, so it takes no imports (sameness: labelled)`;
}

/** Returns the reason why an import stays as it is: the exports of these clusters are unknown. */
export const unknownText = (clusters: readonly string[]): string =>
  `the hub does not know yet what ${clusters.join(' and ')} ${clusters.length === 1 ? 'exports' : 'export'}: the import stays as it is`;

function owed({ record, report, failures, silent, now }: ImporterToJudge, sinceMs: number): string {
  const since = `a run is owed since ${timeText(sinceMs, now)}`;
  if (record.circuit) return `${since}, but the cluster can’t be asked (${record.circuit.reason})`;
  if (report?.unknown) return `${since}: ${unknownText(report.unknown)}`;
  if (silent.length > 0) return `${since}: what ${silent.join(' and ')} ${silent.length === 1 ? 'has' : 'have'} changed while silent`;
  if (record.clusterset.imports === 'active' && record.lists.firstListOf.ServiceImport !== record.incarnation)
    return `${since}: its relay has told no list of ServiceImports, so the kind is not installed, or the relay does not watch it`;
  return failures > 0 ? `${since}, after ${failures} failed ${failures === 1 ? 'try' : 'tries'}` : since;
}
