import { Tags } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Every resource that takes tags says whose it is: for policies, inventories and, once they are activated for
 * it, the bill.
 */
export function tagOwner(scope: IConstruct, hub: string, cluster?: string): void {
  Tags.of(scope).add('fleet-endpoints:hub', hub);
  if (cluster !== undefined) Tags.of(scope).add('fleet-endpoints:cluster', cluster);
}
