/** The objects of a cluster in a set, in the manifest and in the chart. */

import { type Manifest, value } from '#infra/relay/manifest-yaml.ts';
import type { ClustersetTasks, ImportTasks } from '#infra/relay/set-tasks.ts';
import { clustersetPolicies, isNotImported } from './clusterset-policies.ts';
import { clustersetRbac } from './clusterset-rbac.ts';

const anySource: ImportTasks = {
  cluster: value('cluster'),
  set: value('clustersetName'),
  sameness: value('clustersetSameness') as 'all',
  sources: {},
};
const importing = '(eq .Values.clusterset "imports")';
const exportingEditors = '(and .Values.clusterset .Values.editorsMayExport)';
const objectsOf = (tasks: ClustersetTasks): readonly string[] =>
  [...clustersetRbac('', tasks), ...clustersetPolicies('', tasks)].map((m) => `${m.kind}/${m.metadata.name}`);

/** Wraps objects of members and importers of a set in a condition on the value `clusterset`. */
function object({ kind, metadata: { name } }: Manifest, text: string): string {
  const isIn = (tasks: ClustersetTasks): boolean => objectsOf(tasks).includes(`${kind}/${name}`);
  const condition = isIn({})
    ? '.Values.clusterset'
    : isIn({ imports: anySource })
      ? importing
      : isIn({ editorsMayExport: true })
        ? exportingEditors
        : undefined;
  return condition ? `{{- if ${condition} }}\n${text}{{- end }}\n` : text;
}

/** The ranges of the sources are a mapping; as JSON it is one of CEL too. */
const text = (given: string): string =>
  given
    .replace(
      /^( *)- name: RELAY_CLUSTERSET\n.*\n/m,
      (lines, at: string) => `${at}{{- if .Values.clusterset }}\n${lines}${at}{{- end }}\n`,
    )
    .replace(
      /^( *)- name: not-imported\n.*\n/gm,
      (lines, at: string) => `${at}{{- if ${importing} }}\n${lines}${at}{{- end }}\n`,
    )
    .replace(
      /^( *- name: ranges\n *expression: ).*$/m,
      (_, before: string) => `${before}{{ toJson .Values.importSources | quote }}`,
    );

const values = ({ imports, editorsMayExport = false }: ClustersetTasks) => ({
  clusterset: imports ? 'imports' : 'exports',
  editorsMayExport,
  ...(imports && {
    clustersetName: imports.set,
    clustersetSameness: imports.sameness,
    importSources: imports.sources,
  }),
});

export const setObjects = {
  rbac: clustersetRbac,
  policies: clustersetPolicies,
  /** A policy of their own holds the slices of imports. */
  sliceConditions: ({ imports }: ClustersetTasks) => (imports ? [isNotImported] : []),
  chart: { tasks: { imports: anySource, editorsMayExport: true }, object, text, values },
};
