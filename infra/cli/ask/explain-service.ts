/** Explains a service by the snapshot. */

import { explainService } from '#infra/cli/ask/explain/explain.ts';
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { listedNames, thereAre } from '#infra/cli/terminal/counted.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { listClusters, readCluster } from '#shared/clusters/record.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readNodes, readPods, readServiceInput } from './explain-input.ts';
import { unknownService } from './unknown-service.ts';
import { askParts } from './wing.ts';

export const explain = async (table: Table, key: ServiceKey, now: number, pod?: string) =>
  (await explainWithInput(table, key, now, pod)).explanation;

/** Throws a UsageError with the existing names if the cluster, service or pod does not exist. */
export async function explainWithInput(
  table: Table,
  key: ServiceKey,
  now: number,
  asked?: string,
): Promise<{ readonly input: ExplainInput; readonly explanation: Explanation }> {
  const input = await readExplainInput(table, key, now);
  if (asked === undefined) return { input, explanation: explainService(input) };
  return { input, explanation: ofPod(explainService({ ...input, asked }), key, asked) };
}

function ofPod(explanation: Explanation, key: ServiceKey, pod: string): Explanation {
  const pods = explanation.pods.filter((p) => p.pod === pod);
  const { clusterset } = explanation;
  const sources = (clusterset?.sources ?? []).map((source) => ({
    ...source,
    pods: source.pods.filter((p) => p.pod === pod),
  }));
  if (pods.length === 0 && sources.every((s) => s.pods.length === 0)) {
    const known = [...explanation.pods, ...(clusterset?.sources ?? []).flatMap((s) => s.pods)].map(
      (p) => p.pod,
    );
    throw new UsageError(
      `no pod ${pod} in namespace ${key.namespace} of ${key.cluster}: ${key.namespace}/${key.name} concerns ${listedNames(known)}`,
    );
  }
  return {
    ...explanation,
    pods,
    saved: explanation.saved.filter((s) => s.pod === pod),
    ...(clusterset && { clusterset: { ...clusterset, sources } }),
  };
}

async function readExplainInput(table: Table, key: ServiceKey, now: number): Promise<ExplainInput> {
  const cluster = await readCluster(table, key.cluster);
  if (!cluster) throw new UsageError(`no cluster ${key.cluster}: ${thereAre(await listClusters(table))}`);
  const [record, pods, nodes, sets] = await Promise.all([
    readObject({ table, cluster: key.cluster }, 'Service', key.namespace, key.name),
    readPods(table, key),
    readNodes(table, key.cluster),
    Promise.all(askParts.map((part) => part.explain(table, cluster, key, now))),
  ]);
  const set = sets.find((each) => each !== undefined);
  const input = await readServiceInput(table, { ...key, cluster, record, pods, nodes, set, now });
  const { saved } = input;
  // A deleted Service can still be explained while the table has something of it.
  const isServed = saved.endpoints || saved.slices.length > 0 || saved.withoutContent?.length;
  if (!isAlive(record) && !set && !isServed) throw await unknownService(table, key, now);
  return input;
}
