import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { writerGroup } from '#infra/relay/relay-names.ts';
import { type AwsCredentials, eksToken } from '#shared/clusters/api/eks-token.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { eventually } from '#test/e2e/deploy/operator.ts';
import type { ServedCluster } from '#test/e2e/deploy/served-cluster.ts';
import type { Step } from '#test/e2e/deploy/step.ts';
import type { AuthenticatorSettings, EksAuthenticator } from '#test/support/aws/eks-authenticator.ts';
import type { LocalCloud } from '#test/support/aws/local-cloud.ts';
import type { OwnersHub } from './owners-hub.ts';

export interface EksParts {
  readonly cloud: LocalCloud;
  readonly hub: OwnersHub;
  /** The settings with which the hub's roles are writers. */
  readonly writers: () => Promise<AuthenticatorSettings>;
  readonly shop: () => ServedCluster;
  readonly authenticator: () => EksAuthenticator;
}

/** Why EKS refuses a token: by tokens of a person, and as the hub shows it. */
export function eksRefusals({ cloud, hub, writers, shop, authenticator }: EksParts): readonly Step[] {
  return [
    {
      fact: 'EKS refuses a token of another cluster’s name, an expired token and an unmapped role, and the runbook has the line of each in EKS’s log',
      async check() {
        const [mapped, unmapped] = await Promise.all(
          ['mapped', 'unmapped'].map((name) => roleOf(cloud, name)),
        );
        const known = await writers();
        const groups = { ...known.groups, [`arn:aws:iam::${cloud.account}:role/mapped`]: [writerGroup] };
        await authenticator().configure({ ...known, groups });
        const now = Date.now();
        const statusOf = async (name: string, atMs: number, as = mapped): Promise<number> =>
          statusFor(shop(), await eksToken(name, cloud.region, as as AwsCredentials, new Date(atMs)));
        assert.equal(await statusOf('shop', now), 201);
        const runbook = await readFile('docs/operate/runbook.md', 'utf8');
        for (const [line, status] of [
          ['SignatureDoesNotMatch', await statusOf('another', now)],
          ['X-Amz-Date parameter is expired', await statusOf('shop', now - 16 * 60_000)],
          ['ARN is not mapped', await statusOf('shop', now, unmapped)],
        ] as const) {
          assert.equal(status, 401, line);
          assert.ok(
            (await authenticator().log()).includes(line),
            `${line}; there is ${await authenticator().log()}`,
          );
          assert.ok(runbook.includes(line), line);
        }
      },
    },
    {
      fact: 'a hub whose roles EKS does not know, or that signs another cluster’s name, keeps its endpoints; list and explain have the reason until EKS knows it',
      async check() {
        const addresses = ['10.2.0.1'];
        const known = await writers();
        await authenticator().configure({ ...known, groups: {} });
        // The API server keeps an accepted token for some seconds.
        await eventually('the circuit opens', async () => {
          if (/^shop .* open: unauthorized /m.test(await hub.command('cluster', 'list'))) return true;
          const ip = `10.2.0.${addresses.length + 1}`;
          await shop().addReadyPod(`web-${addresses.length + 1}`, ip);
          addresses.push(ip);
          return false;
        });
        const linesOf = async (reason: string): Promise<number> =>
          (await authenticator().log()).split(reason).length;
        async function isShown(): Promise<void> {
          assert.match(await hub.command('cluster', 'list'), /^shop .* open: unauthorized /m);
          assert.match(await hub.command('explain', 'shop', 'default/opted'), /unauthorized/);
          assert.ok((await shop().sliceAddresses('opted')).includes('10.2.0.1'));
        }
        await isShown();
        await authenticator().configure({ ...known, clusterName: 'another' });
        const before = await linesOf('SignatureDoesNotMatch');
        await eventually(
          'EKS refuses the next probe for its name',
          async () => (await linesOf('SignatureDoesNotMatch')) > before,
        );
        await isShown();
        await authenticator().configure(known);
        await eventually(
          'the slice of the service that opts in',
          async () => (await shop().sliceAddresses('opted')).join() === addresses.sort().join(),
        );
        // The run that writes the slice closes the circuit after that.
        await eventually('the circuit closes', async () =>
          /^shop .* closed /m.test(await hub.command('cluster', 'list')),
        );
      },
    },
  ];
}

/** Credentials of a new role. */
async function roleOf(cloud: LocalCloud, RoleName: string): Promise<AwsCredentials> {
  const trust = {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { AWS: '*' }, Action: 'sts:AssumeRole' }],
  };
  await cloud.call('iam', 'create_role', { RoleName, AssumeRolePolicyDocument: JSON.stringify(trust) });
  const RoleArn = `arn:aws:iam::${cloud.account}:role/${RoleName}`;
  const { Credentials } = (await cloud.call('sts', 'assume_role', {
    RoleArn,
    RoleSessionName: 'person',
  })) as {
    readonly Credentials: {
      readonly AccessKeyId: string;
      readonly SecretAccessKey: string;
      readonly SessionToken: string;
    };
  };
  return {
    accessKeyId: Credentials.AccessKeyId,
    secretAccessKey: Credentials.SecretAccessKey,
    sessionToken: Credentials.SessionToken,
  };
}

async function statusFor({ controlPlane }: ServedCluster, token: string): Promise<number> {
  const transport = httpTransport({ ...controlPlane.connection, token });
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const { status } = await transport.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    body,
  });
  transport.close();
  return status;
}
