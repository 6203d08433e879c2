/**
 * The relay of a CDK app: its manifest, its installation on EKS, and `relay manifest` by the stack's outputs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as eks from 'aws-cdk-lib/aws-eks';
import * as eksV2 from 'aws-cdk-lib/aws-eks-v2';
import { Role } from 'aws-cdk-lib/aws-iam';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  FleetCluster,
  type FleetClusterProps,
  type KubernetesCluster,
} from '#infra/aws/constructs/fleet-cluster.ts';
import { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
import { manifestText } from '#infra/cli/act/relay-install.ts';
import { authority } from '#test/infra/clusters-file.ts';

process.env['CDK_VALIDATION'] = 'false';

const image = 'registry.example.com/relay@sha256:1';
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-construct-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const stackOf = () =>
  new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'S', {
    env: { account: '111122223333', region: 'eu-central-1' },
  });
const api = {
  url: 'https://shop.example.com',
  ca: authority,
  auth: { type: 'eks', clusterName: 'shop' },
} as const;
const exporting = (range: string) => ({ exports: { namespaces: ['web'], podCidrs: [range] }, api });
const irsa = {
  identity: { type: 'irsa', oidcProviderArn: 'arn:aws:iam::111122223333:oidc-provider/issuer.example.com' },
} as const;

/** Stands for the deploy: returns the value with the logical id of its target for each reference. */
function deployed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deployed);
  if (typeof value !== 'object' || value === null) return value;
  const {
    Ref,
    'Fn::GetAtt': att,
    'Fn::Join': joined,
  } = value as { Ref?: string; 'Fn::GetAtt'?: string[]; 'Fn::Join'?: [string, unknown[]] };
  if (Ref !== undefined) return Ref;
  if (att) return att[0];
  if (joined) return joined[1].map(deployed).join(joined[0]);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, deployed(each)]));
}

const resourcesOf = (stack: Stack, type: string) =>
  Object.entries(Template.fromStack(stack).findResources(type));

describe('installRelay', () => {
  const provider = { serviceToken: 'arn:aws:lambda:eu-central-1:111122223333:function:kubectl' };
  it.each([
    [
      'aws-eks',
      (stack: Stack): KubernetesCluster => {
        const handlerRole = Role.fromRoleName(stack, 'Handler', 'handler');
        const kubectl = {
          functionArn: provider.serviceToken,
          kubectlRoleArn: 'arn:aws:iam::111122223333:role/kubectl',
          handlerRole,
        };
        const kubectlProvider = eks.KubectlProvider.fromKubectlProviderAttributes(stack, 'Kubectl', kubectl);
        return eks.Cluster.fromClusterAttributes(stack, 'Eks', {
          clusterName: 'shop',
          kubectlProvider,
          prune: false,
        });
      },
    ],
    [
      'aws-eks-v2',
      (stack: Stack): KubernetesCluster => {
        const kubectlProvider = eksV2.KubectlProvider.fromKubectlProviderAttributes(
          stack,
          'Kubectl',
          provider,
        );
        return eksV2.Cluster.fromClusterAttributes(stack, 'Eks', {
          clusterName: 'shop',
          kubectlProvider,
          prune: false,
        });
      },
    ],
  ])(
    'installRelay applies the manifest by the kubectl of %s, after the association of its role',
    (_, clusterIn) => {
      const stack = stackOf();
      const hub = new FleetHub(stack, 'Hub');
      const shop = new FleetCluster(stack, 'Shop', {
        hub,
        id: 'shop',
        relay: { identity: { type: 'pod-identity', clusterName: 'shop' } },
      });
      shop.installRelay(clusterIn(stack), { image });
      const [[, resource] = []] = resourcesOf(stack, 'Custom::AWSCDK-EKS-KubernetesResource');
      expect(JSON.parse(deployed(resource?.['Properties'].Manifest) as string)).toEqual(
        deployed(stack.resolve(shop.relayManifest({ image }))),
      );
      const [association] = resourcesOf(stack, 'AWS::EKS::PodIdentityAssociation').map(([id]) => id);
      expect(resource?.['DependsOn']).toContain(association);
    },
  );
});

describe('relay manifest', () => {
  function world(...others: readonly Omit<FleetClusterProps, 'hub'>[]) {
    const stack = stackOf();
    const hub = new FleetHub(stack, 'Hub', { clusterset: { name: 'prod' } });
    const sidecars = [
      {
        name: 'proxy',
        image: 'proxy:1',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ];
    const shop = new FleetCluster(stack, 'Shop', {
      hub,
      id: 'shop',
      api,
      optIn: 'active',
      imports: 'active',
      relay: { ...irsa, namespace: 'relays', sidecars },
    });
    for (const each of others) new FleetCluster(stack, each.id, { hub, ...each });
    return { stack, shop };
  }
  const printed = (stack: Stack, id: string): readonly object[] => {
    const found = Object.entries(Template.fromStack(stack).findOutputs('*')).map(([name, { Value }]) => [
      name,
      deployed(Value),
    ]);
    const outputs = join(folder, 'outputs.json');
    writeFileSync(outputs, JSON.stringify({ Other: {}, S: Object.fromEntries(found) }));
    return parseAllDocuments(manifestText(id, { image, outputs, clusters: join(folder, 'none.yaml') })).map(
      (d) => d.toJS() as object,
    );
  };

  it('the command prints the construct’s manifest by the stack’s outputs, without a clusters file', () => {
    const { stack, shop } = world({ id: 'source', ...exporting('10.2.0.0/16'), relay: irsa });
    const manifest = deployed(stack.resolve(shop.relayManifest({ image }))) as readonly { kind: string }[];
    expect(manifest.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Namespace', 'Deployment', 'ValidatingAdmissionPolicy']),
    );
    expect(printed(stack, 'shop')).toEqual(manifest);
    expect(JSON.stringify(manifest)).toContain('10.2.0.0/16');
    expect(JSON.stringify(manifest)).toContain('"proxy:1"');
    expect(JSON.stringify(manifest)).not.toContain('${Token[');
  });

  it('a cluster without an output is named in the error', () => {
    const { stack } = world();
    expect(() => printed(stack, 'other')).toThrow(
      /no cluster other: .*outputs\.json has no output RelaySettings of it, and there is no clusters file/,
    );
  });

  it('the synthesis refuses a manifest that lacks a later exporting cluster', () => {
    const { stack, shop } = world();
    shop.relayManifest({ image });
    new FleetCluster(stack, 'Late', {
      hub: stack.node.findChild('Hub') as FleetHub,
      id: 'late',
      ...exporting('10.3.0.0/16'),
      relay: irsa,
    });
    expect(() => Template.fromStack(stack)).toThrow(
      /FleetCluster S\/Shop: the relay's manifest lacks clusters that export/,
    );
  });

  it('a hub of another app does not know the exporting clusters, so an importing cluster takes its manifest from a clusters file', () => {
    const stack = stackOf();
    const arn = 'arn:aws:lambda:eu-central-1:111122223333:function:f';
    const role = 'arn:aws:iam::111122223333:role/r';
    const queue = 'https://sqs.eu-central-1.amazonaws.com/111122223333/q';
    const hub = FleetHub.fromFleetHubAttributes(stack, 'Hub', {
      name: 'Fleet',
      clusterset: { name: 'prod' },
      ...{ registerFunctionArn: arn, workerFunctionArn: arn },
      ...{ workerRoleArn: role, sweepRoleArn: role },
      ...{ parkedQueueUrl: queue, quarantineQueueUrl: queue },
    });
    const importer = new FleetCluster(stack, 'A', { hub, id: 'a', imports: 'shadow', relay: irsa });
    expect(() => importer.relayManifest({ image })).toThrow(
      /FleetCluster S\/A: a imports, and a hub of another app does not know/,
    );
    const exporter = new FleetCluster(stack, 'B', { hub, id: 'b', ...exporting('10.2.0.0/16'), relay: irsa });
    expect(exporter.relayManifest({ image }).length).toBeGreaterThan(10);
    expect(
      Object.keys(Template.fromStack(stack).findOutputs('*')).filter((id) => id.includes('RelaySettings')),
    ).toEqual([expect.stringMatching(/^B/)]);
  });
});
