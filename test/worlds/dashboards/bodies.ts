/** The bodies of the dashboards that `cdk deploy` creates, and the alarms, as CloudFormation gets them. */
import { fleetOf } from '#test/infra/fleet.ts';

export interface Alarm {
  readonly name: string;
  readonly namespace?: string;
  readonly metric?: string;
  readonly statistic?: string;
  readonly dimensions: { readonly [name: string]: string };
  readonly threshold: number;
  readonly isBelow: boolean;
}

export interface Bodies {
  readonly fleet: string;
  readonly cluster: string;
  /** By the text that stands for its ARN in a body. */
  readonly alarms: ReadonlyMap<string, Alarm>;
}

interface Properties {
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Statistic?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Threshold?: number;
  readonly ComparisonOperator?: string;
}

export function deployedBodies(): Bodies {
  const { hubTemplate } = fleetOf('hub: { name: Fleet, clusterMetrics: all }');
  const bodies = Object.values(hubTemplate.findResources('AWS::CloudWatch::Dashboard')).map((d) =>
    resolved(d['Properties'].DashboardBody),
  );
  const made = Object.entries(hubTemplate.findResources('AWS::CloudWatch::Alarm'));
  const composed = Object.keys(hubTemplate.findResources('AWS::CloudWatch::CompositeAlarm'));
  const alarms = new Map<string, Alarm>([
    ...made.map(([id, { Properties }]) => [id, alarmOf(id, Properties as Properties)] as const),
    ...composed.map((id) => [id, alarmOf(id, {})] as const),
  ]);
  const isOfCluster = (body: string): boolean => body.includes('"variables"');
  return {
    fleet: bodies.find((body) => !isOfCluster(body)) ?? '',
    cluster: bodies.find(isOfCluster) ?? '',
    alarms,
  };
}

const alarmOf = (id: string, p: Properties): Alarm => ({
  name: id.replace(/^Monitoring/, '').replace(/[0-9A-F]{8}$/, ''),
  ...(p.Namespace && { namespace: p.Namespace }),
  ...(p.MetricName && { metric: p.MetricName }),
  ...(p.Statistic && { statistic: p.Statistic }),
  dimensions: Object.fromEntries((p.Dimensions ?? []).map(({ Name, Value }) => [Name, resolved(Value)])),
  threshold: p.Threshold ?? 0,
  isBelow: p.ComparisonOperator === 'LessThanThreshold',
});

/** A text with the simulation's names for what CloudFormation fills in. */
function resolved(value: unknown): string {
  if (typeof value === 'string') return value;
  const {
    Ref,
    'Fn::GetAtt': got,
    'Fn::Join': join,
  } = value as {
    readonly Ref?: string;
    readonly 'Fn::GetAtt'?: readonly string[];
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
  };
  if (join) return join[1].map(resolved).join(join[0]);
  const id = Ref ?? got?.[0];
  // The table is of another stack.
  if (id === undefined) return 'table';
  if (id === 'AWS::Region') return 'eu-central-1';
  return (
    /^(?<role>Ingest|Sync|Sweep)Function/.exec(id)?.groups?.['role']?.toLowerCase() ??
    (id.startsWith('DeadLettersParked')
      ? 'parked'
      : id.startsWith('DeadLettersQuarantine')
        ? 'quarantine'
        : id)
  );
}
