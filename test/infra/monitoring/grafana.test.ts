/** The dashboards for Grafana: they are those of CloudWatch and of the relay's metrics. */
import { expect, it } from 'vitest';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import { grafanaDashboards } from '#infra/aws/monitoring/grafana.ts';
import { relayMetrics } from '#shared/contract/relay-metrics.ts';

interface Drawn {
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly metricName?: string; readonly expr?: string }[];
  }[];
}
const drawn = (name: string): Drawn =>
  grafanaDashboards().find((file) => file.name === `${name}.json`)?.dashboard as Drawn;
const targetsOf = ({ panels }: Drawn) => panels.flatMap(({ targets = [] }) => targets);

it.each(dashboards)('the dashboard $id has each metric of our own that CloudWatch’s has', ({ id, rows }) => {
  const ours = rows
    .flatMap(({ widgets, topTens = [] }) => [...topTens, ...widgets.flatMap(({ series }) => series)])
    .flatMap((s) => ('metric' in s ? s.metric : 'upstream' in s ? s.upstream : []));
  expect(new Set(targetsOf(drawn(id)).map(({ metricName }) => metricName))).toEqual(
    new Set([...ours, ...(id === 'cluster' ? queueMetrics : [])]),
  );
});
const queueMetrics = [
  'ApproximateNumberOfMessagesVisible',
  'ApproximateNumberOfMessagesDelayed',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateAgeOfOldestMessage',
];

it('the dashboard of the relays has each of their metrics', () => {
  const asked = targetsOf(drawn('relay')).flatMap(
    ({ expr = '' }) => expr.match(/relay_\w+?(?=_bucket|\W)/g) ?? [],
  );
  expect(asked.sort()).toEqual(Object.keys(relayMetrics).sort());
});

it.each(['fleet', 'cluster', 'relay'])(
  'the panels of %s have ids of their own, and none covers another or leaves the grid',
  (name) => {
    const { panels } = drawn(name);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => ({
        column: x + (i % w),
        cell: `${x + (i % w)},${y + Math.floor(i / w)}`,
      })),
    );
    expect(new Set(cells.map(({ cell }) => cell)).size).toBe(cells.length);
    expect(cells.filter(({ column }) => column >= 24)).toEqual([]);
  },
);
