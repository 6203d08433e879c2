/** Rules about clusters.yaml as a whole. They are checked when every part is valid by itself. */
import type { Config } from './config.ts';
import { configParts } from './wing.ts';

export const brokenRule = (config: Config): string | undefined =>
  executionsTooMany(config) ??
  otherRegion(config) ??
  sharedRole(config) ??
  keyElsewhere(config) ??
  topicElsewhere(config) ??
  configParts.map((part) => part.brokenRule(config)).find((broken) => broken !== undefined);

/**
 * Above it one event in the region, after which every cluster lists again, takes the executions that sweep,
 * register and the account's other functions need.
 */
const share = 0.8;

function executionsTooMany({ hub, clusters }: Config): string | undefined {
  const most = clusters.reduce((sum, { concurrency }) => sum + concurrency.ingest + concurrency.sync, 0);
  if (most <= share * hub.lambdaConcurrencyLimit) return undefined;
  return `the concurrency of ${clusters.length} clusters adds up to ${most} executions, and ${share * hub.lambdaConcurrencyLimit} are allowed, four fifths of hub.lambdaConcurrencyLimit (${hub.lambdaConcurrencyLimit}): request an increase of "Concurrent executions" in Service Quotas and set hub.lambdaConcurrencyLimit, or set a lower concurrency for clusters, such as { ingest: 2, sync: 2 }`;
}

/** The CDK writes the table's key for a region that it knows. */
function keyElsewhere({ hub: { region, encryption } }: Config): string | undefined {
  if (encryption?.table && !region)
    return 'hub.encryption.table needs a known region: hub.region of clusters.yaml, or env.region of the stack in a CDK app';
  const other = Object.values(encryption ?? {}).find((key) => isElsewhere(key, region));
  return (
    other &&
    `hub.encryption: the key ${other} is not in hub.region, ${region}, where table, queues and logs are`
  );
}

/** False for an ARN that CloudFormation fills in later. */
const isElsewhere = (arn: string | undefined, region: string | undefined): boolean =>
  arn !== undefined && region !== undefined && arn.startsWith('arn:') && arn.split(':')[3] !== region;

/** CloudWatch refuses an alarm with a topic of another region, at the deploy. */
function topicElsewhere({ hub: { region, pageTopicArn, ticketTopicArn } }: Config): string | undefined {
  const other = [pageTopicArn, ticketTopicArn].find((topic) => isElsewhere(topic, region));
  return (
    other &&
    `hub: the topic ${other} is not in hub.region, ${region}, and alarms reach topics of their own region alone`
  );
}

function otherRegion({ hub, clusters }: Config): string | undefined {
  const isOther = (region: string | undefined): boolean =>
    /^[a-z]/.test(region ?? '') && region !== hub.region;
  for (const { id, api, relay } of clusters) {
    const { identity } = relay;
    if (identity.type === 'pod-identity' && identity.association && isOther(identity.region))
      return `${id}: a Pod Identity association can be made in the hub's own region only: leave region out, or say association: false and make it there`;
    if (api?.auth.type === 'eks' && api.auth.accessEntry && isOther(api.auth.region))
      return `${id}: access entries can be made in the hub's own region only: leave accessEntry out, and make those for the outputs WorkerRoleArn and SweepRoleArn there`;
  }
  return undefined;
}

/** The events queue of each cluster admits its relay's role, and by the queue the hub knows the cluster. */
function sharedRole({ clusters }: Config): string | undefined {
  const clusterOf = new Map<string, string>();
  for (const { id, relay } of clusters) {
    if (relay.identity.type !== 'existing-role') continue;
    const { roleArn } = relay.identity;
    const other = clusterOf.get(roleArn);
    if (other !== undefined)
      return `the relays of ${other} and ${id} have the same role, ${roleArn}, so each could send events of the other cluster: give each its own role`;
    clusterOf.set(roleArn, id);
  }
  return undefined;
}
