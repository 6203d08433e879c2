/** Addresses in AWS's own console. */
import { dashboardNameOf } from '#infra/aws/monitoring/dashboard-names.ts';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import type { DeployedHub } from './api-types.ts';

/** The consoles of China and GovCloud have domains of their own. */
const domainOf = (region: string): string =>
  region.startsWith('cn-')
    ? 'amazonaws.cn'
    : region.startsWith('us-gov-')
      ? 'amazonaws-us-gov.com'
      : 'aws.amazon.com';

export function cloudWatchLinks(hub: string, region: string): Pick<DeployedHub, 'cloudWatch' | 'alarms'> {
  const home = `https://${region}.console.${domainOf(region)}/cloudwatch/home?region=${region}`;
  const cloudWatch = Object.fromEntries(
    dashboards.map((d) => [d.id, `${home}#dashboards/dashboard/${dashboardNameOf(hub, region, d)}`]),
  );
  return { cloudWatch, alarms: `${home}#alarmsV2:` };
}
