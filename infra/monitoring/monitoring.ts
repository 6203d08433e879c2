import { AlarmRule, AlarmState, CompositeAlarm, type IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { HubConfig } from '#infra/config/config.ts';
import { alarmTopicsOf, describe, makeAlarm } from './alarm-topics.ts';
import { compositeAlarm, hubAlarms } from './alarms.ts';
import { drawClusterDashboard, drawDashboard } from './dashboard-drawing.ts';
import { fleetDashboard } from './dashboards.ts';
import { makeManyAlarm, manyClusters } from './many-clusters.ts';
import type { MetricSources } from './metric-sources.ts';
import { burnRates, makeBurnAlarm } from './objective.ts';

export interface MonitoringProps {
  readonly hub: HubConfig;
  readonly sources: MetricSources;
}

/** Dashboards and alarms of the hub. */
export class Monitoring extends Construct {
  /** By the alarm's id. */
  readonly alarms: ReadonlyMap<string, IAlarm>;

  constructor(scope: Construct, id: string, { hub, sources }: MonitoringProps) {
    super(scope, id);
    drawDashboard(this, hub, fleetDashboard, sources);
    drawClusterDashboard(this, hub, sources);

    const topics = alarmTopicsOf(this, hub);
    const all = hubAlarms(hub.lambdaConcurrencyLimit);
    const made = new Map(all.map((alarm) => [alarm, makeAlarm(this, alarm, sources, topics)] as const));
    this.alarms = new Map([...made].map(([{ id: name }, alarm]) => [name, alarm]));
    const burns = burnRates.map((burn) => ({ severity: burn.severity, alarm: makeBurnAlarm(this, burn, sources, topics) }));
    const many = manyClusters.map((each) => ({ severity: 'page', alarm: makeManyAlarm(this, each, sources, topics) }));
    const paging = [...[...made].map(([{ severity }, alarm]) => ({ severity, alarm })), ...many, ...burns].filter(
      ({ severity }) => severity === 'page',
    );
    new CompositeAlarm(this, compositeAlarm, {
      alarmRule: AlarmRule.anyOf(...paging.map(({ alarm }) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
      alarmDescription: describe(topics, compositeAlarm, 'at least one of the alarms that page rings; its children tell which'),
    });
  }
}
