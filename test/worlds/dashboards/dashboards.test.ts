/** The deployed dashboards, drawn with a day of clusters of which some have trouble. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deployedBodies } from './bodies.ts';
import { clusters, simulateDay } from './day.ts';
import { DayMetrics } from './day-metrics.ts';
import { draw } from './drawing.ts';
import { busyCluster, troubles } from './troubles.ts';

const { fleet, cluster, alarms } = deployedBodies();
const [healthy] = clusters.filter((id) => !(id in troubles));
// `npm run dashboards` has all hundred; the others are as this healthy one.
const metrics = await simulateDay([healthy ?? '', ...Object.keys(troubles)]);
const nothing = new DayMetrics(0, 1, 1);

describe('a day of the fleet', () => {
  const drawn = draw(fleet, metrics, { alarms });

  it('the day leaves no widget of the fleet’s dashboard empty', () => {
    expect(drawn.empty).toEqual([]);
  });

  it('the day leaves no widget of a cluster’s dashboard empty', () => {
    expect(draw(cluster, metrics, { cluster: busyCluster }).empty).toEqual([]);
  });

  it('a top ten names the cluster first that has the trouble', () => {
    expect(Object.fromEntries([...drawn.topTens].map(([title, [first]]) => [title, first]))).toEqual({
      'Oldest overdue work': expect.stringMatching(/^prod-(us-27|eu-12)$/),
      'Time since the last heartbeat': 'prod-us-11',
      'Longest delay of endpoints': expect.stringMatching(/^prod-(us-27|eu-12|eu-07)$/),
      'Shadow differences': expect.stringMatching(/^stage-(08|21)$/),
      'Open circuits': expect.stringMatching(/^prod-(eu-23|us-04)$/),
    });
    for (const ids of drawn.topTens.values()) expect(ids.length).toBeLessThanOrEqual(10);
  });

  it('the first row shows the alarms that ring at its end', () => {
    expect(drawn.ringing).toContain('ShadowDiffers');
    expect(drawn.ringing).not.toContain('WriterConflict');
  });
});

describe('what draws a body', () => {
  it('a widget whose metric nobody emits is found empty', () => {
    const other = fleet.replace('"SyncsLate"', '"SyncsOnMars"');
    expect(draw(other, metrics, { alarms }).empty).toEqual(['Late writes']);
  });

  it('the drawing shows nothing that is not in the lines', () => {
    const titles = JSON.parse(fleet).widgets.flatMap((w: { type: string; properties: { title: string } }) =>
      w.type === 'metric' ? w.properties.title : [],
    );
    expect(draw(fleet, nothing, { alarms }).empty).toEqual(titles);
  });

  it.each([
    [
      'GROUP BY cluster ORDER BY MAX()',
      'GROUP BY cluster ORDER BY SUM()',
      /the expression is not known: SELECT/,
    ],
    ['"view":"singleValue"', '"view":"pie"', /the view pie is not known/],
    ['"type":"alarm"', '"type":"log"', /a widget of the type log is not known/],
    ['"stat":"Sum"', '"stat":"IQM"', /the statistic IQM is not known/],
  ])('the drawing refuses what no body of ours has: %s as %s', (is, other, message) => {
    expect(fleet.replaceAll('\\"', '"')).toContain(is);
    expect(() => draw(fleet.replace(is, other), metrics, { alarms })).toThrow(message);
  });

  it('the drawing has at most 600 lines', () => {
    const files = ['bodies', 'day-metrics', 'drawing'].map((name) => `test/worlds/dashboards/${name}.ts`);
    const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length, 0);
    expect(lines).toBeLessThanOrEqual(600);
  });
});
