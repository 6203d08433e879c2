import { stringify } from 'yaml';

/** A Kubernetes object as JSON. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** For kubectl, whose reader of YAML is of version 1.1: `on` and `yes` must be quoted. */
/** A value of the chart, in place of a parameter. */
export const value = (name: string): string => `{{ .Values.${name} }}`;

export const toYaml = (manifests: readonly Manifest[]): string =>
  manifests
    .map((m) => stringify(m, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
