import type { Alarm } from '#infra/aws/monitoring/alarm.ts';
import { compositeAlarm, hubAlarms } from '#infra/aws/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import { manyClusters } from '#infra/aws/monitoring/many-clusters.ts';
import { burnRates } from '#infra/aws/monitoring/objective.ts';
import { refusedMetrics } from '#infra/aws/monitoring/refused-metrics.ts';
import { code, page, table } from './markdown.ts';

/** For the text alone: the default of `hub.lambdaConcurrencyLimit`. */
const lambdaConcurrencyLimit = 1000;

const linked = (id: string): string => `[${id}](../operate/runbook.md#${id.toLowerCase()})`;

function nameOf({ series }: Alarm): string {
  if ('metric' in series) return code(series.metric);
  if ('upstream' in series) return code(series.upstream);
  const owner = Object.entries(series).find(([key]) =>
    ['queue', 'function', 'newVersionOf'].includes(key),
  )?.[1];
  const table = 'index' in series ? 'the index' : 'the table';
  return `${code(series.name)} of ${owner ?? table}`;
}

function conditionOf(alarm: Alarm): string {
  const { series, is, threshold, periodMinutes, periods, datapoints = periods } = alarm;
  const condition = `${series.statistic} of ${nameOf(alarm)} ${is} ${threshold}`;
  const minutes = periodMinutes === 1 ? 'a minute' : `${periodMinutes} minutes`;
  if (periods === 1) return `${condition} in ${minutes}`;
  const share = datapoints === periods ? `${periods}` : `${datapoints} of ${periods}`;
  return `${condition}, ${share} times ${minutes}`;
}

const alarmRow = (alarm: Alarm): readonly string[] => [
  linked(alarm.id),
  alarm.severity,
  conditionOf(alarm),
  alarm.meaning,
];

export const alarmsPage = (): string =>
  page('Alarms', 'infra/aws/monitoring', [
    'What to do is in the [runbook](../operate/runbook.md#alarms), under the name of the alarm. `page` wakes the person on call, `ticket` waits for working hours.',
    '## The hub',
    table(
      ['alarm', 'severity', 'condition', 'meaning'],
      [
        [
          linked(compositeAlarm),
          'none',
          'an alarm below that pages is active',
          'a view of them, without notifications',
        ],
        ...hubAlarms(lambdaConcurrencyLimit).map(alarmRow),
        ...manyClusters.map(({ id, metric, periods, datapoints, meaning }) => [
          linked(id),
          'page',
          `${code(metric)} of more than two clusters and of more than one in twenty, ${datapoints} of ${periods} minutes`,
          meaning,
        ]),
        ...burnRates.map(({ id, severity, rate, windows, meaning }) => [
          linked(id),
          severity,
          `more than ${rate} % of the syncs are late, in the last ${windows.map(({ minutes }) => minutes).join(' and ')} minutes`,
          meaning,
        ]),
        [
          linked(refusedMetrics.id),
          refusedMetrics.severity,
          '`EMFParsingErrors` and `EMFValidationErrors` of the functions > 0, 5 minutes',
          refusedMetrics.meaning,
        ],
      ],
    ),
    '## Each cluster',
    '`alarms: page` in clusters.yaml makes pages of those marked with *.',
    table(
      ['alarm', 'severity', 'condition', 'meaning'],
      clusterAlarms('ticket').map((alarm, i) => {
        const [id = '', severity = '', ...rest] = alarmRow(alarm);
        return [id, clusterAlarms('page')[i]?.severity === 'page' ? `${severity}\\*` : severity, ...rest];
      }),
    ),
  ]);
