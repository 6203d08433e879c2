import { Arn, ArnFormat } from 'aws-cdk-lib';
import { CfnPodIdentityAssociation } from 'aws-cdk-lib/aws-eks';
import {
  ArnPrincipal,
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
import type { RelayConfig } from '#infra/config/relay-config.ts';
import { relayServiceAccount, relayTokenAudience } from './names.ts';

/** Who the relay is in AWS: it may send to its cluster's events queue, and that is all. The queue is how the hub knows the cluster. */
export class RelayIdentity extends Construct {
  readonly roleArn: string;

  constructor(scope: Construct, id: string, { relay, events }: { readonly relay: RelayConfig; readonly events: Queue }) {
    super(scope, id);
    const { identity } = relay;
    if (identity.type === 'existing-role') {
      // By the queue's own policy: it holds for roles of other accounts too (which then need the same right on their side).
      this.roleArn = identity.roleArn;
      events.addToResourcePolicy(
        new PolicyStatement({
          effect: Effect.ALLOW,
          principals: [new ArnPrincipal(identity.roleArn)],
          actions: ['sqs:SendMessage'],
          resources: [events.queueArn],
        }),
      );
      return;
    }
    const role = new Role(this, 'Role', { assumedBy: trusted(relay), description: 'relay: sends to the events queue of its cluster' });
    role.addToPolicy(new PolicyStatement({ effect: Effect.ALLOW, actions: ['sqs:SendMessage'], resources: [events.queueArn] }));
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
}

function trusted({ namespace, identity }: RelayConfig): IPrincipal {
  if (identity.type === 'pod-identity') {
    const tags = {
      'aws:RequestTag/eks-cluster-name': identity.clusterName,
      'aws:RequestTag/kubernetes-namespace': namespace,
      'aws:RequestTag/kubernetes-service-account': relayServiceAccount,
    };
    return new SessionTagsPrincipal(new ServicePrincipal('pods.eks.amazonaws.com', { conditions: { StringEquals: tags } }));
  }
  if (identity.type === 'irsa') {
    const issuer = Arn.split(identity.oidcProviderArn, ArnFormat.SLASH_RESOURCE_NAME).resourceName;
    return new FederatedPrincipal(
      identity.oidcProviderArn,
      { StringEquals: { [`${issuer}:sub`]: `system:serviceaccount:${namespace}:${relayServiceAccount}`, [`${issuer}:aud`]: relayTokenAudience } },
      'sts:AssumeRoleWithWebIdentity',
    );
  }
  return new ArnPrincipal(identity.roleArn);
}
