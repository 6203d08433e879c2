import { CfnResource, type IAspect } from 'aws-cdk-lib';

/** Types that the local cloud refuses; tests assert them on the template instead. */
export const notOnEmulator: readonly string[] = ['AWS::CloudWatch::CompositeAlarm', 'AWS::EKS::AccessEntry', 'AWS::EKS::PodIdentityAssociation'];

/** Takes them out of the templates. Nothing may refer to them. */
export function dropForEmulator(): IAspect {
  return {
    visit(node) {
      if (!CfnResource.isCfnResource(node) || !notOnEmulator.includes(node.cfnResourceType)) return;
      node.node.scope!.node.tryRemoveChild(node.node.id);
      console.error(`not on the local cloud: ${node.cfnResourceType} ${node.node.path}`);
    },
  };
}
