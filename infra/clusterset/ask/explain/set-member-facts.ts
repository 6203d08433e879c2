/** The facts of a cluster in a set. */

import type { Fact } from '#infra/cli/ask/explain/explanation.ts';
import { fact } from '#infra/cli/ask/explain/facts.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';

export function memberFacts(cluster: ClusterRecord): readonly Fact[] {
  const { imports } = membershipOf(cluster);
  return [
    ...fact('Exports', exportsText(cluster)),
    ...fact('Imports', imports === 'off' ? undefined : imports),
  ];
}

/** Returns the namespaces that the cluster exports, or undefined without any. */
export function exportsText(cluster: Pick<ClusterRecord, 'clusterset'>): string | undefined {
  const { exports } = membershipOf(cluster);
  if (exports.namespaces === 'all') return 'every namespace';
  return exports.namespaces.length > 0 ? `namespaces ${exports.namespaces.join(', ')}` : undefined;
}
