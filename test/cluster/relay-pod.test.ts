/** A real API server accepts the relay's manifest, and refuses what clusters.yaml refuses. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseConfig } from '#infra/config/load-config.ts';
import { relayManifest } from '#infra/relay/manifest.ts';
import type { Manifest } from '#infra/relay/manifest-yaml.ts';
import type { PodExtras } from '#infra/relay/pod.ts';
import { connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { applyManifests, relayNamespace } from '#test/support/relay-install.ts';

let controlPlane: ControlPlane;
beforeAll(async () => {
  controlPlane = await startControlPlane();
});
afterAll(() => controlPlane?.stop());

const extras = parseConfig(
  'clusters.yaml',
  `hub: {}
clusters:
  - id: a
    relay:
      identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/relay" }
      extraEnv: [{ name: AWS_EC2_METADATA_SERVICE_ENDPOINT, value: "http://127.0.0.1:9911" }]
      extraVolumes: [{ name: certificate, secret: { secretName: relay-certificate } }]
      extraVolumeMounts: [{ name: certificate, mountPath: /certificate }]
      sidecars:
        - name: aws-signing-helper
          image: registry.example.com/aws-signing-helper:1
          args: [serve]
          volumeMounts: [{ name: certificate, mountPath: /certificate }]
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
`,
).clusters[0]!.relay;

const manifests = (more: PodExtras): readonly Manifest[] =>
  relayManifest({
    cluster: 'a',
    namespace: relayNamespace,
    eventsQueueUrl: 'https://sqs.example.com/events',
    region: 'eu-central-1',
    outputs: 'metadata',
    replicas: 2,
    resyncSeconds: '1800',
    roleArn: 'arn:aws:iam::111122223333:role/relay',
    program: { bundle: 'a program' },
    extras: more,
  });

/** The pod of the Deployment, as its ReplicaSet's controller makes it. */
function podOf(of: readonly Manifest[], name: string) {
  const { template } = of.find((m) => m.kind === 'Deployment')!['spec'] as {
    readonly template: { readonly metadata: object; readonly spec: object };
  };
  return { metadata: { ...template.metadata, name, namespace: relayNamespace }, spec: template.spec };
}

it('the API server takes the manifest as it is printed, and its pod with all that a platform may add, at a critical priority', async () => {
  const api = connectApi(controlPlane.connection);
  const all = manifests(extras);
  await applyManifests(controlPlane, all);
  const { spec } = (await api.create('Pod', relayNamespace, podOf(all, 'whole'))) as {
    readonly spec?: object;
  };
  expect(spec).toMatchObject({
    priorityClassName: 'system-cluster-critical',
    priority: 2_000_000_000,
    containers: [{}, { name: 'aws-signing-helper' }],
  });
  api.close();
});

it('a container that clusters.yaml refuses is one that the API server refuses', async () => {
  const api = connectApi(controlPlane.connection);
  const more = { ...extras, sidecars: [{ name: 'a', image: 'b' }] };
  await expect(api.create('Pod', relayNamespace, podOf(manifests(more), 'refused'))).rejects.toThrow(
    /violates PodSecurity "restricted/,
  );
  const volumes = { ...extras, extraVolumes: [{ name: 'certificate', hostPath: { path: '/' } }] };
  await expect(api.create('Pod', relayNamespace, podOf(manifests(volumes), 'refused'))).rejects.toThrow(
    /violates PodSecurity "restricted/,
  );
  api.close();
});
