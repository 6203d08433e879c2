/**
 * The set of clusters of a local run (docs/use/clusterset.md): `--imports`, `--exports`, `--sameness` and
 * `--allow-overlap`.
 */
import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { joinsSet, type SetOptions, type TypedSetOptions } from '#infra/local/set-options.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import {
  type ClustersetMembership,
  type Imports,
  importsChoices,
  noMembership,
} from '#shared/clusterset/contract/clusterset-settings.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import type { Table } from '#shared/store/table.ts';
import { reportImports } from './imports-report.ts';

/**
 * Every importer runs for each change of an export, so with more clusters the demonstration would do little
 * else.
 */
const maxOfDemonstration = 10;
/** The namespace of the demonstration workload whose Service is exported. */
const demonstrated = ['shop'];

/** `embedded` is the number of embedded clusters: 0 with a kubeconfig. */
export function checkedClusterset(typed: TypedSetOptions, embedded: number): SetOptions {
  const isDemonstration = embedded > 1 && embedded <= maxOfDemonstration;
  const {
    imports = isDemonstration ? 'active' : 'off',
    sameness = embedded > 0 ? 'all' : 'labelled',
    allowOverlap = false,
  } = typed;
  if (!isImports(imports)) throw new UsageError(`--imports ${imports}: ${importsChoices.join(', ')}`);
  if (sameness !== 'all' && sameness !== 'labelled')
    throw new UsageError(`--sameness ${sameness}: all, labelled`);
  const exports =
    typed.exports === undefined ? (isDemonstration ? demonstrated : []) : namespaces(typed.exports);
  return { imports, exports, sameness, allowOverlap };
}

const isImports = (text: string): text is Imports => (importsChoices as readonly string[]).includes(text);
const shape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

function namespaces(text: string): SetOptions['exports'] {
  if (text === 'all') return 'all';
  if (text === 'none') return [];
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !shape.test(name));
  if (wrong !== undefined)
    throw new UsageError(
      `--exports ${text}: ${JSON.stringify(wrong)} is not the name of a namespace; all, none, or names with commas`,
    );
  const excluded = names.find((name) => excludedNamespaces.includes(name));
  if (excluded !== undefined)
    throw new UsageError(`--exports ${text}: namespace ${excluded} is never exported`);
  return [...new Set(names)];
}

/** Returns a line for each part that the demonstration leaves out because of the number of clusters. */
export function leftOut({
  clusters,
  clusterset,
}: {
  readonly clusters: number;
  readonly clusterset: SetOptions;
}): readonly string[] {
  if (clusters <= maxOfDemonstration || joinsSet(clusterset)) return [];
  const why = `every importer runs for each change, and ${clusters} clusters are more than ${maxOfDemonstration}`;
  return [
    `no Service is exported: ${why}; --exports ${demonstrated.join(',')} --imports active exports anyway`,
  ];
}

/** `podCidrs` are the pod ranges of the cluster, if they are known. */
function localMembership(options: SetOptions, podCidrs: readonly string[] | undefined): ClustersetMembership {
  if (!joinsSet(options)) return noMembership;
  const { imports, exports, sameness } = options;
  return {
    ...noMembership,
    imports,
    sameness,
    exports: { namespaces: exports, ...(podCidrs && { podCidrs }) },
  };
}

/** Sets the switches of a cluster whose record is `known`. */
async function follow(
  table: Table,
  known: ClusterRecord,
  options: SetOptions,
  podCidrs: readonly string[] | undefined,
): Promise<void> {
  const membership = localMembership(options, podCidrs);
  if (!isDeepStrictEqual(membershipOf(known), membership)) await saveMembership(table, known.id, membership);
}

export const localSet = { checked: checkedClusterset, leftOut, follow, report: reportImports };
