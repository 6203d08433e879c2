import { columns } from '#infra/cli/print-answer.ts';
import type { Bill, ClusterBill } from './bill.ts';
import { priceBasis } from './prices.ts';

const mostClusters = 10;
const dollars = (amount: number): string => amount.toFixed(2);

export function billLines(hubName: string, days: number, bill: Bill): readonly string[] {
  const { lines, together, clusters, meanImporter, meanOther, millionRuns, capacity } = bill;
  const total = ({ own, share }: ClusterBill): number => own + share;
  const dearest = clusters.toSorted((a, b) => total(b) - total(a)).slice(0, mostClusters);
  const other = capacity.cheaper === capacity.now ? 'stays the cheaper one' : 'would be cheaper';
  return [
    `Hub ${hubName}: 30 days at the rate of the last ${days}, US dollars. Prices: ${priceBasis}.`,
    '',
    ...columns([...lines.map(({ what, dollars: amount }) => [what, dollars(amount)]), ['together', dollars(together)]]),
    '',
    ...columns([
      ['cluster', 'of its own', 'share of the load', 'together'],
      ...dearest.map((cluster) => [cluster.id, dollars(cluster.own), dollars(cluster.share), dollars(total(cluster))]),
    ]),
    ...(clusters.length > mostClusters ? [`… and ${clusters.length - mostClusters} clusters that cost less (-o json)`] : []),
    '',
    ...(meanOther === undefined ? [] : [`a cluster without imports costs ${dollars(meanOther)} on the average`]),
    ...(meanImporter === undefined ? [] : [`a cluster with imports costs ${dollars(meanImporter)} on the average`]),
    ...(millionRuns === undefined ? [] : [`a million runs that write endpoints cost ${dollars(millionRuns)}, with all that follows the load`]),
    `table on demand ${dollars(capacity.onDemand)}, provisioned with auto scaling ${dollars(capacity.provisioned)}: ${capacity.cheaper} ${other} (docs/cost.md)`,
  ];
}
