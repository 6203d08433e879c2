/** Additional rights of the relay and the writer in a cluster that takes part in a set. */

import type { Manifest } from '#infra/relay/manifest-yaml.ts';
import { binding } from '#infra/relay/rbac.ts';
import { relayServiceAccount, writerGroup, writerServiceAccount } from '#infra/relay/relay-names.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import { mcsGroup } from '#shared/kube/names.ts';

const rbac = 'rbac.authorization.k8s.io';
const relayRole = 'fleet-endpoints-relay-clusterset';
const writerRole = 'fleet-endpoints-writer-clusterset';
const importerRole = 'fleet-endpoints-writer-imports';
const editorsRole = 'fleet-endpoints-edit-serviceexports';

export const clustersetRbac = (
  namespace: string,
  { imports, editorsMayExport = false }: ClustersetTasks,
): readonly Manifest[] => [
  role(relayRole, [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: [mcsGroup], resources: ['serviceexports', 'serviceimports'], verbs: ['list', 'watch'] },
    // Deleting a CRD deletes all of its objects. The relay watches the CRD to distinguish that from a
    // withdrawn export.
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: [`serviceexports.${mcsGroup}`],
      verbs: ['get'],
    },
  ]),
  binding(relayRole, [{ kind: 'ServiceAccount', name: relayServiceAccount, namespace }]),
  role(writerRole, [
    { apiGroups: [mcsGroup], resources: ['serviceexports'], verbs: ['get', 'list'] },
    { apiGroups: [mcsGroup], resources: ['serviceexports/status'], verbs: ['patch'] },
  ]),
  binding(writerRole, writers(namespace)),
  ...(imports ? [importer, binding(importerRole, writers(namespace))] : []),
  ...(editorsMayExport ? [editors] : []),
];

const role = (name: string, rules: readonly object[]): Manifest => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});

/** The policies of clusterset-policies.ts restrict writes with these rights. */
const importer = role(importerRole, [
  { apiGroups: [''], resources: ['services'], verbs: ['create', 'update', 'delete'] },
  {
    apiGroups: [mcsGroup],
    resources: ['serviceimports'],
    verbs: ['get', 'list', 'create', 'update', 'delete'],
  },
  { apiGroups: [mcsGroup], resources: ['serviceimports/status'], verbs: ['patch'] },
  // Where OwnerReferencesPermissionEnforcement is on, to own a derived Service by its import.
  { apiGroups: [mcsGroup], resources: ['serviceimports/finalizers'], verbs: ['update'] },
]);

/** Never ServiceImports: who may write these sends a namespace's traffic where he likes (MC-65). */
const editors: Manifest = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: editorsRole, labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
  rules: [
    {
      apiGroups: [mcsGroup],
      resources: ['serviceexports'],
      verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    },
  ],
} as Manifest;

const writers = (namespace: string): readonly object[] => [
  { kind: 'Group', name: writerGroup, apiGroup: rbac },
  { kind: 'ServiceAccount', name: writerServiceAccount, namespace },
];
