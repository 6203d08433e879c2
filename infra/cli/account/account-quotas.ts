/**
 * Quotas that a hub of many clusters reaches. AWS limits neither alarms nor event source mappings nor queues
 * by number (docs/operate/runbook.md).
 */
import type { Config, HubConfig } from '#infra/config/config.ts';
import { clusterStackName, hubStackName, snapshotStackName } from '#infra/config/stack-names.ts';
import { type Finding, finding, fine, wrong } from './account-finding.ts';
import { type Aws, inRegion } from './aws-cli.ts';

/** Resources that a deploy of the file makes. */
interface Planned {
  readonly stacks: number;
  readonly roles: number;
}

export function checkQuotas(aws: Aws, config: Config): Promise<readonly Finding[]> {
  const { hub } = config;
  const existing = stackNames(aws, hub);
  // Each question reports a failure as its own.
  existing.catch(() => {});
  return Promise.all([
    finding('hub', 'concurrent executions of Lambda', () => concurrency(aws, hub)),
    finding('hub', 'stacks of CloudFormation', async () => {
      const names = await existing;
      const { AccountLimits = [] } = (await aws(
        'cloudformation',
        'describe-account-limits',
        ...inRegion(hub.region),
      )) as {
        AccountLimits?: readonly { readonly Name?: string; readonly Value?: number }[];
      };
      const quota = AccountLimits.find(({ Name }) => Name === 'StackLimit')?.Value;
      return room(names.length, plannedOf(config, names).stacks, quota, 'Stack count');
    }),
    finding('hub', 'roles of IAM', async () => {
      const names = await existing;
      const { SummaryMap = {} } = (await aws('iam', 'get-account-summary', ...inRegion(hub.region))) as {
        SummaryMap?: { Roles?: number; RolesQuota?: number };
      };
      return room(
        SummaryMap.Roles ?? 0,
        plannedOf(config, names).roles,
        SummaryMap.RolesQuota,
        'Roles per account',
      );
    }),
  ]);
}

const stackNames = async (aws: Aws, hub: HubConfig): Promise<readonly string[]> =>
  (await aws(
    'cloudformation',
    'describe-stacks',
    '--query',
    'Stacks[].StackName',
    ...inRegion(hub.region),
  )) as readonly string[];

/** A stack that exists has its roles already. */
export function plannedOf({ hub, clusters }: Config, existing: readonly string[]): Planned {
  const stacks = [
    { name: snapshotStackName(hub.name), roles: 0 },
    // Roles: worker, sweep, register and the schedule, and with gradual rollouts the deployment.
    { name: hubStackName(hub.name), roles: hub.rollout === 'gradual' ? 5 : 4 },
    ...clusters.map(({ id, relay }) => ({
      name: clusterStackName(hub.name, id),
      roles: relay.identity.type === 'existing-role' ? 0 : 1,
    })),
  ];
  const absent = stacks.filter(({ name }) => !existing.includes(name));
  return { stacks: absent.length, roles: absent.reduce((sum, { roles }) => sum + roles, 0) };
}

function room(used: number, planned: number, quota: number | undefined, name: string) {
  if (quota === undefined) throw new Error('AWS names no quota');
  const found = `${used} of ${quota}, and the file adds ${planned}`;
  return used + planned <= quota ? fine(found) : wrong(found, raised(name));
}

const raised = (name: string): string => `have the quota "${name}" raised (Service Quotas)`;

async function concurrency(aws: Aws, hub: HubConfig) {
  const { lambdaConcurrencyLimit: limit } = hub;
  const { AccountLimit = {} } = (await aws('lambda', 'get-account-settings', ...inRegion(hub.region))) as {
    AccountLimit?: {
      readonly ConcurrentExecutions?: number;
      readonly UnreservedConcurrentExecutions?: number;
    };
  };
  const quota = AccountLimit.ConcurrentExecutions ?? 0;
  const free = AccountLimit.UnreservedConcurrentExecutions ?? quota;
  const found = free < quota ? `${free} of ${quota} that no other function reserves` : `${quota}`;
  return free >= limit
    ? fine(found)
    : wrong(
        `${found}, and hub.lambdaConcurrencyLimit is ${limit}`,
        `${raised('Concurrent executions')}, or give hub.lambdaConcurrencyLimit: ${free}`,
      );
}
