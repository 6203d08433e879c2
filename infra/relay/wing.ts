/** The door of services across clusters (docs/use/clusterset.md): their objects in the manifest and the chart. */

import { setObjects } from '#infra/clusterset/relay/clusterset-objects.ts';
import type { Named } from './admission-policy.ts';
import type { Manifest } from './manifest-yaml.ts';
import type { ClustersetTasks } from './set-tasks.ts';

export interface RelayPart {
  /** Additional rights of the relay and the writer. */
  readonly rbac: (namespace: string, tasks: ClustersetTasks) => readonly Manifest[];
  /** Admission policies of what the writer writes besides endpoints of the cluster's own Services. */
  readonly policies: (namespace: string, tasks: ClustersetTasks) => readonly Manifest[];
  /** Conditions of the policy for the slices of the cluster's own Services. */
  readonly sliceConditions: (tasks: ClustersetTasks) => readonly Named[];
  readonly chart: {
    /** Every task, with values of the chart. */
    readonly tasks: ClustersetTasks;
    /** Puts an object under its condition. */
    readonly object: (manifest: Manifest, text: string) => string;
    /** Puts parts of objects under their conditions. */
    readonly text: (text: string) => string;
    readonly values: (tasks: ClustersetTasks) => { readonly [value: string]: unknown };
  };
}

export const relayParts: readonly RelayPart[] = [setObjects];
