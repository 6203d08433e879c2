import { Arn, ArnFormat, CfnJson, Stack, Token } from 'aws-cdk-lib';
import { CfnPodIdentityAssociation } from 'aws-cdk-lib/aws-eks';
import {
  AnyPrincipal,
  Effect,
  FederatedPrincipal,
  type IPrincipal,
  PolicyStatement,
  Role,
  ServicePrincipal,
  SessionTagsPrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { RelayConfig, RelayIdentityConfig } from '#infra/config/relay-config.ts';
import { relayServiceAccount, relayTokenAudience } from '#infra/relay/relay-names.ts';
import { keyUse, useOfKeys } from './customer-keys.ts';

export interface RelayIdentityProps {
  readonly relay: RelayConfig;
  /** The role's name; unused if the relay has a role already. */
  readonly roleName: string;
  readonly events: Queue;
  /** ARN of the customer's key for the queues. */
  readonly queuesKey?: string | undefined;
}

/**
 * Who the relay is in AWS: it may send to its cluster's events queue, and that is all. The queue is how the
 * hub knows the cluster.
 */
export class RelayIdentity extends Construct {
  readonly roleArn: string;

  constructor(scope: Construct, id: string, { relay, roleName, events, queuesKey }: RelayIdentityProps) {
    super(scope, id);
    const { identity } = relay;
    if (identity.type === 'existing-role') {
      // The queue's own policy also covers roles of other accounts, which need the same right on their side.
      // The policy names the role by a condition: SQS stores a principal as the role's unique id, so a role
      // that was created again would be refused. An account as the principal would admit only roles that the
      // account's own policies admit, too.
      this.roleArn = identity.roleArn;
      const account = Arn.split(identity.roleArn, ArnFormat.SLASH_RESOURCE_NAME).account ?? '';
      events.addToResourcePolicy(
        new PolicyStatement({
          effect: Effect.ALLOW,
          principals: [new AnyPrincipal()],
          actions: ['sqs:SendMessage'],
          resources: [events.queueArn],
          conditions: {
            ArnEquals: { 'aws:PrincipalArn': identity.roleArn },
            StringEquals: { 'aws:PrincipalAccount': account },
          },
        }),
      );
      return;
    }
    const role = new Role(this, 'Role', {
      roleName,
      assumedBy: this.#trusted(relay.namespace, identity),
      description: 'relay: sends to the events queue of its cluster',
    });
    role.addToPolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        actions: ['sqs:SendMessage'],
        resources: [events.queueArn],
      }),
    );
    if (queuesKey) role.addToPolicy(useOfKeys(this, [queuesKey], keyUse.queues));
    this.roleArn = role.roleArn;
    if (identity.type === 'pod-identity' && identity.association) {
      new CfnPodIdentityAssociation(this, 'Association', {
        clusterName: identity.clusterName,
        namespace: relay.namespace,
        serviceAccount: relayServiceAccount,
        roleArn: role.roleArn,
      });
    }
  }

  #trusted(namespace: string, identity: Exclude<RelayIdentityConfig, { type: 'existing-role' }>): IPrincipal {
    if (identity.type === 'irsa') {
      const issuer = Arn.extractResourceName(identity.oidcProviderArn, 'oidc-provider');
      const claims = {
        [`${issuer}:sub`]: `system:serviceaccount:${namespace}:${relayServiceAccount}`,
        [`${issuer}:aud`]: relayTokenAudience,
      };
      // A template can't have a key that the deploy fills in.
      const equal = Token.isUnresolved(issuer) ? new CfnJson(this, 'Claims', { value: claims }) : claims;
      return new FederatedPrincipal(
        identity.oidcProviderArn,
        { StringEquals: equal },
        'sts:AssumeRoleWithWebIdentity',
      );
    }
    const equal = {
      'aws:RequestTag/kubernetes-namespace': namespace,
      'aws:RequestTag/kubernetes-service-account': relayServiceAccount,
    };
    const conditions = { StringEquals: { ...equal, ...this.#clusterOf(identity) } };
    return new SessionTagsPrincipal(new ServicePrincipal('pods.eks.amazonaws.com', { conditions }));
  }

  /**
   * Names of EKS clusters repeat from region to region. Without one, a cluster that is associated elsewhere
   * is known by its name alone.
   */
  #clusterOf({ clusterName, association, region }: Extract<RelayIdentityConfig, { type: 'pod-identity' }>): {
    readonly [key: string]: string;
  } {
    if (!association && !region) return { 'aws:RequestTag/eks-cluster-name': clusterName };
    const arn = Stack.of(this).formatArn({
      service: 'eks',
      resource: 'cluster',
      resourceName: clusterName,
      ...(region && { region }),
    });
    return { 'aws:RequestTag/eks-cluster-arn': arn };
  }
}
