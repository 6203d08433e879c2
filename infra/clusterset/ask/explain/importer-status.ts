/** The state of a name's import in a cluster, with the first reason that applies. */

import type { ImporterState } from '#infra/cli/ask/explain/explanation.ts';
import { timeText } from '#infra/cli/ask/explain/facts.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns, isDeregistered } from '#shared/clusters/writer/mode.ts';
import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ImportReport } from '#shared/clusterset/store/import-report.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import type { Namespace } from '#shared/kube/types.ts';

export interface ImporterToJudge {
  readonly record: ClusterRecord;
  readonly namespaceName: string;
  readonly namespace: Namespace | undefined;
  readonly isExported: boolean;
  readonly report: ImportReport | undefined;
  /** Start of the pending run of the import, ms since the epoch. Undefined without a pending run. */
  readonly dirtySinceMs: number | undefined;
  readonly failures: number;
  /** Sources that are silent now. */
  readonly silent: readonly string[];
  /** End of the last run, ms since the epoch. 0 if no run has ended or the time is unknown. */
  readonly ranAtMs: number;
  readonly now: number;
}

export interface ImporterStatus {
  readonly state: ImporterState;
  readonly why: string;
}

export function importerStatus(given: ImporterToJudge): ImporterStatus {
  const { record, isExported, report } = given;
  const leftOut = leftOutFor(given);
  if (leftOut !== undefined) return { state: 'left out', why: leftOut };
  if (!isExported && given.dirtySinceMs === undefined)
    return { state: 'left out', why: 'no cluster exports the name' };
  if (report?.inTheWay) {
    const what =
      report.inTheWay === 'ServiceImport'
        ? 'a ServiceImport of another implementation has the name'
        : 'a Service that the hub did not make has the name of the derived Service';
    return { state: 'refused', why: `${what}: it is left alone` };
  }
  if (report?.notReady !== undefined) return { state: 'refused', why: report.notReady };
  const refusals = report?.refusals && `the cluster refuses ${report.refusals.join('; ')}`;
  if (given.dirtySinceMs !== undefined)
    return {
      state: 'pending',
      why: [pendingText(given, given.dirtySinceMs), refusals].filter(Boolean).join('; '),
    };
  if (refusals) return { state: 'refused', why: refusals };
  const ran = given.ranAtMs > 0 ? `; last run ${timeText(given.ranAtMs, given.now)}` : '';
  if (membershipOf(record).imports === 'shadow')
    return {
      state: 'preview',
      why: `the cluster’s switch for imports is shadow: the hub only shows its writes${ran}`,
    };
  return { state: 'imported', why: `everything is written${ran}` };
}

/** Returns the reason why the cluster does not import the name, or undefined if it does. */
function leftOutFor({ record, namespaceName, namespace }: ImporterToJudge): string | undefined {
  const { imports, sameness, set } = membershipOf(record);
  if (isDeregistered(record)) return 'the cluster is deregistered: its imports stay as they are';
  if (imports === 'off') return 'the cluster’s switch for imports is off: its imports stay as they are';
  if (!hasRuns(record)) return `the cluster is ${record.mode}: its imports stay as they are`;
  if (excludedNamespaces.includes(namespaceName))
    return `nothing is imported into namespace ${namespaceName}`;
  if (record.lists.firstListOf.Namespace !== record.incarnation)
    return 'its relay has not sent its namespaces: it does not watch the kinds that a set needs, or has just started';
  if (missingFirstLists(record).length > 0)
    return 'its first lists are not complete: its relay has just started, or may not list every kind';
  if (!namespace) return `the cluster has no namespace ${namespaceName}`;
  if (namespace.metadata.deletionTimestamp) return `namespace ${namespaceName} is being deleted`;
  if (sameness === 'all' || namespace.metadata.labels?.[annotationClusterset] === set) return undefined;
  return `namespace ${namespaceName} has no label ${annotationClusterset}=${set}, so it takes no imports (sameness: labelled)`;
}

/** Returns the reason why an import stays as it is: the exports of these clusters are unknown. */
export const unknownText = (clusters: readonly string[]): string =>
  `the exports of ${clusters.join(' and ')} are not known yet: the import stays as it is`;

function pendingText({ record, report, failures, silent, now }: ImporterToJudge, sinceMs: number): string {
  const since = `a run is pending since ${timeText(sinceMs, now)}`;
  if (record.circuit) return `${since}, but the circuit of the cluster is open (${record.circuit.reason})`;
  if (report?.unknown) return `${since}: ${unknownText(report.unknown)}`;
  if (silent.length > 0)
    return `${since}: changes of ${silent.join(' and ')} are unknown while ${silent.length === 1 ? 'it is' : 'they are'} silent`;
  if (
    membershipOf(record).imports === 'active' &&
    record.lists.firstListOf.ServiceImport !== record.incarnation
  )
    return `${since}: its relay has sent no list of ServiceImports, so the kind is not installed, or the relay does not watch it`;
  return failures > 0 ? `${since}, after ${failures} failed ${failures === 1 ? 'try' : 'tries'}` : since;
}
