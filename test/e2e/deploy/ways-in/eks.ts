import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import type { EksResource } from './owners-hub.ts';

interface AccessEntry {
  readonly principalArn: string;
  readonly kubernetesGroups: readonly string[];
}

/**
 * A cluster of the local cloud's EKS, for its access entries and Pod Identity associations. It lacks an API
 * server.
 */
export class EksCluster {
  readonly name: string;
  readonly #cloud: LocalCloud;

  private constructor(cloud: LocalCloud, name: string) {
    this.#cloud = cloud;
    this.name = name;
  }

  static async create(cloud: LocalCloud, name: string): Promise<EksCluster> {
    const accessConfig = { authenticationMode: 'API' };
    const trust = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { Service: 'eks.amazonaws.com' }, Action: 'sts:AssumeRole' }],
    };
    await cloud.call('iam', 'create_role', {
      RoleName: `${name}-eks`,
      AssumeRolePolicyDocument: JSON.stringify(trust),
    });
    const roleArn = `arn:aws:iam::${cloud.account}:role/${name}-eks`;
    await cloud.call('eks', 'create_cluster', {
      name,
      version: '1.35',
      roleArn,
      resourcesVpcConfig: { subnetIds: ['subnet-1'] },
      accessConfig,
    });
    return new EksCluster(cloud, name);
  }

  /** Makes resources of a stack, as CloudFormation does. Rejects with EKS's reason if EKS refuses one. */
  async make(resources: readonly EksResource[]): Promise<void> {
    const operations: { readonly [type: string]: string } = {
      'AWS::EKS::PodIdentityAssociation': 'create_pod_identity_association',
      'AWS::EKS::AccessEntry': 'create_access_entry',
    };
    for (const { type, properties } of resources) {
      const operation = operations[type];
      if (!operation) throw new Error(`the local EKS has no ${type}`);
      await this.#cloud.call('eks', operation, properties);
    }
  }

  /** Groups of each role that has an access entry. */
  async groups(): Promise<{ readonly [roleArn: string]: readonly string[] }> {
    const clusterName = this.name;
    const { accessEntries } = (await this.#cloud.call('eks', 'list_access_entries', { clusterName })) as {
      accessEntries: readonly string[];
    };
    const entries: [string, readonly string[]][] = [];
    for (const principalArn of accessEntries) {
      const answer = await this.#cloud.call('eks', 'describe_access_entry', { clusterName, principalArn });
      const { accessEntry } = answer as { accessEntry: AccessEntry };
      if (principalArn.includes(':role/')) entries.push([principalArn, accessEntry.kubernetesGroups]);
    }
    return Object.fromEntries(entries);
  }
}
