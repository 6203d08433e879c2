/** Addresses in AWS's own console. */
import { dashboardNameOf } from '#infra/monitoring/dashboard-names.ts';
import { dashboards } from '#infra/monitoring/dashboards.ts';

/** The consoles of China and GovCloud have domains of their own. */
const domainOf = (region: string): string =>
  region.startsWith('cn-') ? 'amazonaws.cn' : region.startsWith('us-gov-') ? 'amazonaws-us-gov.com' : 'aws.amazon.com';

/** Returns the address of each of the hub's dashboards, by the dashboard's id. */
export function cloudWatchLinks(hub: string, region: string): { readonly [dashboard: string]: string } {
  const home = `https://${region}.console.${domainOf(region)}/cloudwatch/home?region=${region}`;
  return Object.fromEntries(dashboards.map((d) => [d.id, `${home}#dashboards/dashboard/${dashboardNameOf(hub, region, d)}`]));
}
