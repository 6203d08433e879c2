import { AlarmRule, AlarmState, CompositeAlarm, type Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { HubConfig } from '#infra/config/config.ts';
import { type Alarms, alarmTopicsOf, describe, makeAlarm, warnOfSilence } from './alarm-topics.ts';
import { compositeAlarm, hubAlarms } from './alarms.ts';
import { drawClusterDashboard, drawFleetDashboard } from './dashboard-drawing.ts';
import { makeManyAlarm, manyClusters } from './many-clusters.ts';
import type { MetricSources } from './metric-sources.ts';
import { burnRates, makeBurnAlarm } from './objective.ts';
import { makeRefusedAlarm, refusedMetrics } from './refused-metrics.ts';

export interface MonitoringProps {
  readonly hub: HubConfig;
  readonly sources: MetricSources;
}

/** Dashboards and alarms of the hub. */
export class Monitoring extends Construct {
  readonly alarms: Alarms;
  readonly dashboards: { readonly fleet: Dashboard; readonly cluster: Dashboard };

  constructor(scope: Construct, id: string, { hub, sources }: MonitoringProps) {
    super(scope, id);
    const topics = alarmTopicsOf(this, hub);
    warnOfSilence(this, topics);
    const all = hubAlarms(hub.lambdaConcurrencyLimit);
    const made = new Map(all.map((alarm) => [alarm, makeAlarm(this, alarm, sources, topics)] as const));
    const burns = burnRates.map((burn) => ({ ...burn, alarm: makeBurnAlarm(this, burn, sources, topics) }));
    const many = manyClusters.map((each) => ({
      ...each,
      severity: 'page',
      alarm: makeManyAlarm(this, each, sources, topics),
    }));
    const refused = { ...refusedMetrics, alarm: makeRefusedAlarm(this, sources, topics) };
    const watched = [...[...made].map(([each, alarm]) => ({ ...each, alarm })), ...many, ...burns, refused];
    const paging = watched.filter(({ severity }) => severity === 'page');
    const composite = new CompositeAlarm(this, compositeAlarm, {
      alarmRule: AlarmRule.anyOf(...paging.map(({ alarm }) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
      alarmDescription: describe(
        topics,
        compositeAlarm,
        'at least one of the alarms that page rings; its children tell which',
      ),
    });
    this.alarms = Object.fromEntries([
      ...watched.map(({ id: name, alarm }) => [name, alarm] as const),
      [compositeAlarm, composite],
    ]);
    this.dashboards = {
      fleet: drawFleetDashboard(
        this,
        hub,
        sources,
        watched.map(({ alarm }) => alarm),
      ),
      cluster: drawClusterDashboard(this, hub, sources),
    };
  }
}
