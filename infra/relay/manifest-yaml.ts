import { stringify } from 'yaml';
import type { Manifest } from './manifest.ts';

/** For kubectl, whose reader of YAML is of version 1.1: `on` and `yes` must be quoted. */
export const toYaml = (manifests: readonly Manifest[]): string =>
  manifests.map((m) => stringify(m, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
