import { globSync, readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { FleetCluster } from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import type { Alarm } from '#infra/aws/monitoring/alarm.ts';
import { runbookAnchor } from '#infra/aws/monitoring/alarm-topics.ts';
import { compositeAlarm, hubAlarms } from '#infra/aws/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import { clusterDashboard, clusterDashboardOf } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import { manyClusters } from '#infra/aws/monitoring/many-clusters.ts';
import { burnRates } from '#infra/aws/monitoring/objective.ts';
import { refusedMetrics } from '#infra/aws/monitoring/refused-metrics.ts';
import type { Series } from '#infra/aws/monitoring/series.ts';
import { upstreamLabels } from '#infra/aws/monitoring/upstream-labels.ts';
import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import { deployedDashboard } from '#infra/console/dashboard-body.ts';
import { type MetricName, metrics, metricsNamespaceOf, perCluster } from '#shared/contract/metrics.ts';
import { dirtyIndex } from '#shared/contract/table-attributes.ts';
import {
  type UpstreamMetric,
  type UpstreamMetricName,
  upstreamMetrics,
} from '#shared/contract/upstream-metrics.ts';
import { readHubSettings } from '#shared/hub-settings.ts';
import { fleetOf } from '#test/infra/fleet.ts';

const { hubTemplate, clusterTemplate } = fleetOf();
const metricsNamespace = metricsNamespaceOf('Fleet');
const ofHub = hubAlarms(1000);
const ofCluster = clusterAlarms('ticket');
const alarms: readonly Alarm[] = [...ofHub, ...ofCluster];
const topic = (name: string): string[] => [`arn:aws:sns:eu-central-1:111122223333:${name}`];
const own = (series: readonly Series[]): MetricName[] =>
  series.flatMap((s) => ('metric' in s ? [s.metric] : []));
/** Upstream's, as "name label=value". */
const upstreamOf = (series: readonly Series[]): string[] =>
  series.flatMap((s) => ('upstream' in s ? [labelled(s.upstream, s.labels)] : []));
const labelled = (name: string, labels: { readonly [label: string]: string }): string =>
  [name, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)].join(' ');
const declared = (of: (type: UpstreamMetric['type']) => boolean): string[] =>
  (Object.keys(upstreamMetrics) as UpstreamMetricName[])
    .filter((name) => of(upstreamMetrics[name].type))
    .flatMap((name) => upstreamLabels[name].map((labels) => labelled(name, labels)));
/** The text of a template's property, with a word for each name that CloudFormation fills in. */
const resolved = (text: string | { readonly 'Fn::Join': readonly [string, readonly unknown[]] }): string =>
  typeof text === 'string'
    ? text
    : text['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'made')).join(text['Fn::Join'][0]);
interface Body {
  readonly widgets: readonly {
    readonly type: string;
    readonly x: number;
    readonly width: number;
    readonly properties: {
      readonly view?: string;
      readonly markdown?: string;
      readonly alarms?: readonly string[];
    };
  }[];
}
const widgets = dashboards.flatMap((d) => d.rows.flatMap((r) => r.widgets));

describe('dashboards', () => {
  it('dashboards show the emitted metrics, and no others', () => {
    expect(new Set(widgets.flatMap((w) => own(w.series)))).toEqual(new Set(Object.keys(metrics)));
    expect(new Set(widgets.flatMap((w) => upstreamOf(w.series)))).toEqual(new Set(declared(() => true)));
  });

  it('dashboards have of upstream’s metrics the gauges per cluster, where alone they mean something, and the rest for the fleet', () => {
    const on = (dashboard: Dashboard) =>
      new Set(dashboard.rows.flatMap((r) => r.widgets.flatMap((w) => upstreamOf(w.series))));
    expect(on(clusterDashboard)).toEqual(new Set(declared((type) => type === 'gauge')));
    expect(on(fleetDashboard)).toEqual(new Set(declared((type) => type !== 'gauge')));
  });

  it('declare nothing that no function emits: each name is put somewhere', () => {
    const sources = globSync([
      'functions/**/*.ts',
      'shared/workqueue/**/*.ts',
      'shared/hub-cluster-apis.ts',
    ]).map((file) => readFileSync(file, 'utf8'));
    const emitted = new Set(
      sources.flatMap((source) =>
        [...source.matchAll(/metrics\.put\(([^;]*?),/g)].flatMap(
          ([, first = '']) => first.match(/\w+(?=')/g) ?? [],
        ),
      ),
    );
    expect(emitted).toEqual(new Set([...Object.keys(metrics), ...Object.keys(upstreamMetrics)]));
  });

  it('dashboards of one cluster show all metrics of a cluster, and only these', () => {
    expect(new Set(clusterDashboard.rows.flatMap((r) => r.widgets.flatMap((w) => own(w.series))))).toEqual(
      new Set(perCluster.all),
    );
  });

  it('the deployed dashboards contain the source of every series for the console', () => {
    const bodies = Object.values(
      fleetOf('hub: { name: Fleet, clusterMetrics: all }').hubTemplate.findResources(
        'AWS::CloudWatch::Dashboard',
      ),
    ).map((d) => resolved(d['Properties'].DashboardBody));
    for (const dashboard of dashboards) {
      const found = bodies.map((body) => deployedDashboard(dashboard, body));
      const whole = found.find(
        (f) =>
          f.queries.flat().length ===
          dashboard.rows.flatMap((r) => r.widgets.flatMap((w) => w.series)).length,
      );
      expect(whole?.dashboard).toEqual(dashboard);
      expect(whole?.queries.flat().filter(({ namespace, name }) => !namespace || !name)).toEqual([]);
    }
  });

  it('draw of a cluster what hub.clusterMetrics keeps for each, and no upstream gauge without `all`', () => {
    const ofClusters = (yaml: string): string =>
      Object.values(fleetOf(yaml).hubTemplate.findResources('AWS::CloudWatch::Dashboard'))
        .map((d) => JSON.stringify(d['Properties'].DashboardBody))
        .find((b) => b.includes('variables'))!;
    const [few, all] = [
      ofClusters('hub: { name: Fleet }'),
      ofClusters('hub: { name: Fleet, clusterMetrics: all }'),
    ];
    for (const name of perCluster.few) expect(few).toContain(name);
    for (const name of ['endpoint_slice_controller', 'EventsIn', 'SyncsWritten'])
      expect(few).not.toContain(name);
    for (const name of ['endpoint_slice_controller', ...perCluster.all]) expect(all).toContain(name);
  });

  it('draw each metric in its own unit', () => {
    for (const widget of widgets) {
      for (const name of own(widget.series))
        expect({ widget: widget.title, name, unit: widget.unit }).toEqual({
          widget: widget.title,
          name,
          unit: metrics[name].unit,
        });
    }
  });

  it('dashboards have no two widgets of one title, so that a widget can be spoken of', () => {
    for (const dashboard of dashboards) {
      const titles = dashboard.rows.flatMap((r) => [...(r.topTens ?? []), ...r.widgets].map((w) => w.title));
      expect(new Set(titles).size).toBe(titles.length);
    }
  });

  it('dashboards are drawn by CloudWatch from the same rows, with no expression but the top tens', () => {
    const bodies = Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard')).map((d) =>
      JSON.stringify(d['Properties'].DashboardBody),
    );
    expect(bodies).toHaveLength(2);
    for (const [i, dashboard] of [clusterDashboardOf('few'), fleetDashboard].entries()) {
      const body = bodies.find((b) => b.includes('variables') === (i === 0))!;
      for (const row of dashboard.rows) {
        for (const widget of row.widgets)
          expect(body).toContain(JSON.stringify(JSON.stringify(widget.title)).slice(1, -1));
      }
      const topTens = dashboard.rows.flatMap((row) => row.topTens ?? []);
      expect(body.match(/expression/g) ?? []).toHaveLength(topTens.length);
      expect(body.match(/SELECT MAX/g) ?? []).toHaveLength(topTens.length);
    }
  });

  it('the fleet’s dashboard has at most 24 widgets with texts and alarms, and begins with the alarms and three numbers', () => {
    const body = Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard'))
      .map((d) => resolved(d['Properties'].DashboardBody))
      .find((b) => !b.includes('variables'))!;
    const drawn = (JSON.parse(body) as Body).widgets;
    expect(drawn.length).toBeLessThanOrEqual(24);
    expect(drawn.slice(0, 6).map(({ type, properties }) => properties.view ?? type)).toEqual([
      'text',
      'alarm',
      'singleValue',
      'singleValue',
      'singleValue',
      'text',
    ]);
    const [rings] = drawn.filter(({ type }) => type === 'alarm');
    expect(rings?.properties.alarms?.length).toBeGreaterThan(hubAlarms(1000).length);
    expect(rings?.properties.alarms?.length).toBeLessThanOrEqual(100);
    for (const { x, width } of drawn) expect(x + width).toBeLessThanOrEqual(24);
    const texts = drawn.filter(({ type }) => type === 'text').map(({ properties }) => properties.markdown);
    expect(texts).toHaveLength(fleetDashboard.rows.length);
    for (const text of texts) expect(text).toContain('Normal: ');
    expect(texts[1]).toMatch(/\[cluster dashboard\]\(#dashboards:name=.*-Cluster\)/);
  });

  it('top tens read metrics that each cluster has by default', () => {
    const topTens = dashboards.flatMap((d) => d.rows.flatMap((r) => r.topTens ?? []));
    expect(topTens).toHaveLength(5);
    for (const { metric, unit } of topTens) {
      expect(perCluster.few).toContain(metric);
      expect(unit).toBe(metrics[metric].unit);
    }
  });

  it('dashboards are called after hub and region: an account has them all in one place', () => {
    const names = Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard')).map((d) =>
      JSON.stringify(d['Properties'].DashboardName),
    );
    for (const [i, title] of ['Fleet', 'Cluster'].entries())
      expect(names[i]).toMatch(new RegExp(`^.*Fleet-.*AWS::Region.*-${title}"`));
  });

  it('dashboards have a variable for the cluster, filled from what there is', () => {
    const bodies = JSON.stringify(Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard')));
    expect(bodies).toContain(`{${metricsNamespace},cluster} MetricName=\\\\\\"OldestDirtyAge\\\\\\"`);
  });
});

it('one choice of a cluster leads to its metrics and its queues', () => {
  const body = Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard'))
    .map((d) => JSON.stringify(d['Properties'].DashboardBody))
    .find((b) => b.includes('variables'))!;
  expect(body.match(/inputType/g)).toHaveLength(1);
  expect(body.replaceAll('CHOSEN-CLUSTER', 'shop')).toMatch(/Fleet-shop-events[^-].*Fleet-shop-syncs[^-]/);
});

it('two hubs in one account emit, watch and draw metrics of a namespace each', () => {
  const canary = fleetOf(
    'hub: { name: Canary }\nclusters:\n  - { id: a, relay: { identity: { type: pod-identity, clusterName: a } } }',
  );
  const hubs = {
    Fleet: [hubTemplate, clusterTemplate('eks')],
    Canary: [canary.hubTemplate, canary.clusterTemplate('a')],
  };
  for (const [name, templates] of Object.entries(hubs)) {
    const own = `FleetEndpoints/${name}`;
    const of = (type: string) =>
      templates.flatMap((t) => Object.values(t.findResources(type)).map((r) => r['Properties']));
    const metricsOf = (a: {
      Namespace?: string;
      Metrics?: { MetricStat?: { Metric: { Namespace: string } } }[];
    }): string[] =>
      [a.Namespace, ...(a.Metrics ?? []).map((m) => m.MetricStat?.Metric.Namespace)].flatMap((n) => n ?? []);
    const watched = of('AWS::CloudWatch::Alarm').flatMap(metricsOf);
    expect(new Set(watched.filter((n) => !n.startsWith('AWS/')))).toEqual(new Set([own]));
    const drawn = of('AWS::CloudWatch::Dashboard').flatMap(
      (d) => JSON.stringify(d).match(/FleetEndpoints(?!\/)|FleetEndpoints\/\w+/g) ?? [],
    );
    expect(new Set(drawn)).toEqual(new Set([own]));
    const emitted = of('AWS::Lambda::Function').map(
      (f) => readHubSettings({ ...f.Environment.Variables, TABLE_NAME: 'any' }).metricsNamespace,
    );
    expect(new Set(emitted)).toEqual(new Set([own]));
  }
});

const compositeOf = (id: string) =>
  Object.entries(hubTemplate.findResources('AWS::CloudWatch::CompositeAlarm')).find(([key]) =>
    key.startsWith(`Monitoring${id}`),
  )?.[1];

describe('alarms', () => {
  it('alarms each have a heading in the runbook with meaning, places to look and steps', () => {
    const sections = new Map(
      readFileSync('docs/operate/runbook.md', 'utf8')
        .split(/^### /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf('\n')), section]),
    );
    for (const { id } of [...alarms, ...manyClusters, ...burnRates, refusedMetrics, { id: compositeAlarm }]) {
      const section = sections.get(id) ?? '';
      const parts = ['**Means**', '**Look**', '**Do**'].filter((part) => section.includes(part));
      expect({ id, parts }).toEqual({ id, parts: ['**Means**', '**Look**', '**Do**'] });
    }
  });

  it('each link to the runbook’s heading in their description, where it can be opened', () => {
    const descriptions = [hubTemplate, clusterTemplate('eks')].flatMap((t) =>
      Object.values(t.findResources('AWS::CloudWatch::Alarm')).map((a) => a['Properties'].AlarmDescription),
    );
    expect(descriptions).toHaveLength(
      alarms.length + manyClusters.length + burnRates.flatMap((b) => b.windows).length + 1,
    );
    for (const { id } of [...alarms, ...manyClusters, refusedMetrics])
      expect(descriptions).toContainEqual(
        expect.stringMatching(new RegExp(`${runbookAnchor('https://wiki.example.com/runbook', id)}$`)),
      );
  });

  it('an alarm pages if CloudWatch Logs takes no lines, without which no metric of our own exists', () => {
    const silence = ofHub.filter(
      (a) => a.missing === 'alarm' && 'aws' in a.series && a.series.aws === 'AWS/Logs',
    );
    expect(silence.map(({ id, severity }) => [id, severity])).toEqual([['MetricsSilent', 'page']]);
    const [logGroup] = Object.entries(
      hubTemplate.findResources('AWS::Logs::LogGroup', { Properties: { LogGroupName: 'Fleet-sweep' } }),
    );
    hubTemplate.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Logs',
      MetricName: 'IncomingLogEvents',
      Dimensions: [{ Name: 'LogGroupName', Value: { Ref: logGroup![0] } }],
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('a ticket tells of metrics that CloudWatch refuses in lines of any function', () => {
    const found = Object.entries(hubTemplate.findResources('AWS::CloudWatch::Alarm')).find(([key]) =>
      key.includes(refusedMetrics.id),
    );
    const stats = (
      found![1]['Properties'].Metrics as {
        Expression?: string;
        MetricStat?: { Metric: { MetricName: string } };
      }[]
    ).flatMap((m) => m.MetricStat?.Metric.MetricName ?? []);
    expect(stats).toEqual(Array(2).fill(['EMFParsingErrors', 'EMFValidationErrors']).flat());
  });

  it('alarms of one cluster take a missing value for a good one, as a 0 is not kept for each cluster', () => {
    for (const alarm of ofCluster)
      expect({ id: alarm.id, missing: alarm.missing }).toEqual({ id: alarm.id, missing: 'fine' });
  });

  it('alarms use emitted metrics, and those of a cluster use metrics of a cluster', () => {
    for (const alarm of ofCluster)
      expect(perCluster.few).toEqual(expect.arrayContaining(own([alarm.series])));
    for (const { Properties } of Object.values(
      clusterTemplate('eks').findResources('AWS::CloudWatch::Alarm'),
    )) {
      if (Properties.Namespace === metricsNamespace)
        expect(Properties.Dimensions).toEqual([{ Name: 'cluster', Value: 'eks' }]);
    }
  });

  it('alarms have different ids', () => {
    expect(new Set(alarms.map((a) => a.id)).size).toBe(alarms.length);
  });

  it('OldestDirtyAge, Maximum above 60 in 5 of 5 minutes', () => {
    hubTemplate.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: metricsNamespace,
      MetricName: 'OldestDirtyAge',
      Statistic: 'Maximum',
      Dimensions: Match.absent(),
      Threshold: 60,
      DatapointsToAlarm: 5,
      EvaluationPeriods: 5,
      Period: 60,
      ComparisonOperator: 'GreaterThanThreshold',
    });
  });

  it('alarms notify independently of each other, and when they end', () => {
    for (const { id, severity } of [
      ...ofHub,
      refusedMetrics,
      ...manyClusters.map(({ id }) => ({ id, severity: 'page' as const })),
    ]) {
      const [made] = Object.entries(hubTemplate.findResources('AWS::CloudWatch::Alarm')).filter(([key]) =>
        key.startsWith(`Monitoring${id}`),
      );
      expect({ id, ...made![1]['Properties'] }).toMatchObject({
        id,
        AlarmActions: topic(severity),
        OKActions: topic(severity),
      });
    }
  });

  it('alarms of a cluster open tickets, and alarms of its state page if its configuration asks for it', () => {
    const paging = (state: Alarm['severity']): string[] =>
      clusterAlarms(state).flatMap((a) => (a.severity === 'page' ? [a.id] : []));
    expect(paging('ticket')).toEqual([]);
    expect(paging('page')).toEqual(['RelaySilent', 'CircuitOpen', 'FirstListsMissing']);
    const actions = (id: string): unknown[] =>
      Object.values(clusterTemplate(id).findResources('AWS::CloudWatch::Alarm')).map(
        (a) => a['Properties'].AlarmActions[0],
      );
    expect(new Set(actions('eks'))).toEqual(new Set(topic('ticket')));
    expect(actions('own').filter((a) => a === topic('page')[0])).toHaveLength(3);
  });

  it('paging alarms share one view, which has no action of its own', () => {
    const composite = compositeOf(compositeAlarm);
    expect(composite!['Properties']).not.toHaveProperty('AlarmActions');
    const rule = JSON.stringify(composite!['Properties'].AlarmRule);
    for (const { id } of manyClusters) expect(rule).toContain(`Monitoring${id}`);
    for (const { id, severity } of [...ofHub, refusedMetrics, ...burnRates])
      expect({ id, seen: rule.includes(`Monitoring${id}`) }).toEqual({ id, seen: severity === 'page' });
  });

  it.each([
    ['ManyRelaysSilent', 'SilentRelays', 3, 5],
    ['ManyCircuitsOpen', 'OpenCircuits', 5, 7],
    ['ManyFirstListsMissing', 'FirstListsMissing', 10, 12],
  ])(
    '%s pages by the clusters that %s has, whichever app deploys them, in %i of %i minutes',
    (id, metric, datapoints, minutes) => {
      // A hub of constructs: the apps of the clusters' owners name their clusters, and this one names none.
      const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
      const [hubStack, owners] = ['Hub', 'Owners'].map((name) => new Stack(app, name));
      const hub = new FleetHub(hubStack!, 'Hub', {
        name: 'Fleet',
        pageTopicArn: topic('page')[0],
      });
      for (const each of ['a', 'b', 'c'])
        new FleetCluster(owners!, each, {
          hub,
          id: each,
          relay: { identity: { type: 'pod-identity', clusterName: each } },
        });
      const found = Object.entries(
        Template.fromStack(hubStack!).findResources('AWS::CloudWatch::Alarm'),
      ).find(([key]) => key.includes(id));
      const { Metrics, ...alarm } = found![1]['Properties'];
      expect(alarm).toMatchObject({
        AlarmActions: topic('page'),
        OKActions: topic('page'),
        Threshold: 0,
        ComparisonOperator: 'GreaterThanThreshold',
        DatapointsToAlarm: datapoints,
        EvaluationPeriods: minutes,
      });
      const stats = Object.fromEntries(
        (Metrics as { Id: string; MetricStat?: { Stat: string; Period: number; Metric: object } }[]).flatMap(
          (m) => (m.MetricStat ? [[m.Id, m.MetricStat]] : []),
        ),
      );
      const Metric = { Namespace: metricsNamespace, MetricName: metric };
      expect(stats).toEqual({
        affected: { Metric, Period: 60, Stat: 'Sum' },
        known: { Metric, Period: 60, Stat: 'SampleCount' },
        sweeps: { Metric: { Namespace: metricsNamespace, MetricName: 'Sweeps' }, Period: 60, Stat: 'Sum' },
      });
      const { Expression } = (Metrics as { Expression?: string }[]).find((m) => m.Expression)!;
      // CloudWatch's IF is a ternary.
      const text = Expression!.replaceAll(' AND ', ' && ').replaceAll(' OR ', ' || ');
      const functions =
        'const IF = (c, a, b) => (c ? a : b); const FILL = (value, missing) => value ?? missing;';
      const tooMany = new Function('affected', 'known', 'sweeps', `${functions} return ${text}`) as (
        affected: number,
        known: number,
        sweeps: number | undefined,
      ) => number;
      // A minute in which the schedule runs sweep twice has two values of each cluster.
      for (const sweeps of [1, 2, undefined]) {
        const values = sweeps ?? 1;
        const maxOf = (clusters: number): number =>
          Array.from({ length: clusters + 1 }, (_, n) => n).findLast(
            (n) => tooMany(n * values, clusters * values, sweeps) === 0,
          )!;
        expect([1, 2, 3, 4, 40, 100, 1000].map(maxOf)).toEqual([0, 1, 2, 2, 2, 5, 50]);
      }
    },
  );

  it('alarms of a hub of constructs take a topic of the same app, whose ARN is known at the deploy alone', () => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Hub', {
      env: { region: 'eu-central-1' },
    });
    const page = new Topic(stack, 'Page');
    new FleetHub(stack, 'Hub', { pageTopic: page });
    const actions = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm')).flatMap(
      (a) => a['Properties'].AlarmActions ?? [],
    );
    expect(new Set(actions.map((action) => Object.keys(action).join()))).toEqual(new Set(['Ref']));
  });

  it('writes that the index of overdue work refuses ring apart from those of the table, whose metrics leave them out', () => {
    const dimensions = (index: boolean) => [
      ...(index ? [{ Name: 'GlobalSecondaryIndexName', Value: dirtyIndex.name }] : []),
      Match.objectLike({ Name: 'TableName' }),
    ];
    for (const index of [false, true])
      hubTemplate.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'WriteThrottleEvents',
        Dimensions: dimensions(index),
      });
  });

  it('alarms of the hub never page for the worst cluster’s relay, circuit or lists, which would keep silent about all others', () => {
    const worst = ofHub
      .filter((a) => a.severity === 'page' && a.series.statistic === 'Maximum')
      .flatMap((a) => own([a.series]));
    expect(worst).toEqual(['OldestDirtyAge', 'WriterConflict']);
  });

  it.each(['MessagesFail', 'WorkerFails'])(
    '%s rings within half an hour for one message that keeps failing',
    (id) => {
      const alarm = ofHub.find((a) => a.id === id)!;
      const minutes = 30;
      for (const everyMinutes of [1, 2, 3, 4, 5]) {
        const fails = Array.from({ length: minutes }, (_, minute) => minute % everyMinutes === 0);
        const rings = fails.some(
          (_, end) =>
            fails.slice(Math.max(0, end - alarm.periods + 1), end + 1).filter(Boolean).length >=
            (alarm.datapoints ?? alarm.periods),
        );
        expect({ everyMinutes, rings }).toEqual({ everyMinutes, rings: true });
      }
    },
  );

  it('CredentialsEnd stays raised although a run of sweep misses the minute in which the secret is due', () => {
    const { periodMinutes, periods, datapoints = periods } = ofHub.find(({ id }) => id === 'CredentialsEnd')!;
    const hasValue = [true, true, false, true, true];
    const isRaised = hasValue.map(
      (_, hour) =>
        hasValue.slice(Math.max(0, hour - periods + 1), hour + 1).filter(Boolean).length >= datapoints,
    );
    expect({ periodMinutes, isRaised }).toEqual({
      periodMinutes: 60,
      isRaised: [true, true, true, true, true],
    });
  });

  it('alarms of parked and quarantined messages count arrivals, so remaining messages do not mask new ones', () => {
    for (const { id, series } of ofHub)
      if ('aws' in series) expect({ id, depth: series.aws === 'AWS/SQS' }).toEqual({ id, depth: false });
  });

  it.each([
    ['SyncsLate', 'page', 0.144, [3_600, 300]],
    ['SyncsOftenLate', 'ticket', 0.06, [21_600, 1_800]],
  ])(
    '%s rings (%s) when more than %d of the syncs of both its windows were late',
    (id, severity, threshold, periods) => {
      const windows = Object.entries(hubTemplate.findResources('AWS::CloudWatch::Alarm')).filter(([key]) =>
        key.startsWith(`Monitoring${id}In`),
      );
      expect(windows.map(([, w]) => w['Properties'].Threshold)).toEqual(
        periods.map(() => expect.closeTo(threshold, 9)),
      );
      expect(
        windows.map(([, w]) =>
          w['Properties'].Metrics.flatMap(
            (m: { MetricStat?: { Period: number } }) => m.MetricStat?.Period ?? [],
          ),
        ),
      ).toEqual(periods.map((p) => [p, p]));
      for (const [, w] of windows) expect(w['Properties']).not.toHaveProperty('AlarmActions');
      const both = compositeOf(id)!['Properties'];
      expect(both).toMatchObject({ AlarmActions: topic(severity), OKActions: topic(severity) });
      for (const [key] of windows) expect(JSON.stringify(both.AlarmRule)).toContain(key);
      expect(JSON.stringify(both.AlarmRule)).toContain(' AND ');
    },
  );

  it.each(
    burnRates.flatMap(({ id, rate, windows }) => windows.map((w) => [id, w.minutes, rate, w.least] as const)),
  )('%s ignores %i minutes with too few syncs for an alarm', (id, minutes, rate, least) => {
    const [alarm] = Object.entries(hubTemplate.findResources('AWS::CloudWatch::Alarm')).filter(([key]) =>
      key.startsWith(`Monitoring${id}In${minutes}M`),
    );
    const { Expression } = alarm![1]['Properties'].Metrics.find((m: { Expression?: string }) => m.Expression);
    // CloudWatch's IF is a ternary.
    const share = new Function(
      'due',
      'late',
      `const IF = (c, a, b) => (c ? a : b); return ${Expression}`,
    ) as (due: number, late: number) => number;
    const rings = (due: number, late: number): boolean =>
      share(due, late) > alarm![1]['Properties'].Threshold;
    expect([rings(least - 1, least - 1), rings(least, least), rings(0, 0)]).toEqual([false, true, false]);
    const late = Math.floor((least * 10 * rate) / 100);
    expect([rings(least * 10, late), rings(least * 10, late + 1)]).toEqual([false, true]);
  });
});
