/**
 * The Pod Identity agent of an EKS node: it exchanges a pod's token for credentials of the role that the
 * cluster's association has at that moment.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';
import type { Environment, LocalCloud } from './local-cloud.ts';

export const podIdentityAudience = 'pods.eks.amazonaws.com';

export interface PodIdentityAgent {
  /** Environment that EKS's webhook adds to a pod whose token is in the file. */
  environment(tokenFile: string): Environment;
  close(): void;
}

export async function startPodIdentityAgent(
  cloud: LocalCloud,
  controlPlane: ControlPlane,
  clusterName: string,
): Promise<PodIdentityAgent> {
  /** The API server checks signature, audience and end of the token. */
  async function serviceAccountOf(
    token: string,
  ): Promise<{ readonly namespace: string; readonly serviceAccount: string }> {
    const transport = httpTransport(controlPlane.connection);
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [podIdentityAudience] },
    };
    const { body } = await transport.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      body: JSON.stringify(review),
    });
    transport.close();
    const { status } = JSON.parse(body.toString()) as {
      status: { user?: { username?: string }; error?: string };
    };
    const [, namespace, serviceAccount] =
      /^system:serviceaccount:([^:]+):([^:]+)$/.exec(status.user?.username ?? '') ?? [];
    if (!namespace || !serviceAccount) throw new Error(`the token is refused: ${status.error}`);
    return { namespace, serviceAccount };
  }

  async function credentialsFor(token: string): Promise<object> {
    const pod = await serviceAccountOf(token);
    const { associations } = (await cloud.call('eks', 'list_pod_identity_associations', {
      clusterName,
      ...pod,
    })) as {
      associations: readonly { associationId: string }[];
    };
    const [first] = associations;
    if (!first) throw new Error(`no association of ${pod.namespace}/${pod.serviceAccount}`);
    const { association } = (await cloud.call('eks', 'describe_pod_identity_association', {
      clusterName,
      associationId: first.associationId,
    })) as { association: { roleArn: string } };
    const tags = {
      'eks-cluster-arn': `arn:aws:eks:${cloud.region}:${cloud.account}:cluster/${clusterName}`,
      'eks-cluster-name': clusterName,
      'kubernetes-namespace': pod.namespace,
      'kubernetes-service-account': pod.serviceAccount,
    };
    const { Credentials } = (await cloud.call('sts', 'assume_role', {
      RoleArn: association.roleArn,
      RoleSessionName: `eks-${clusterName}-relay`,
      Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    })) as {
      Credentials: { AccessKeyId: string; SecretAccessKey: string; SessionToken: string; Expiration: string };
    };
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials;
    return {
      AccessKeyId,
      SecretAccessKey,
      Token: SessionToken,
      AccountId: cloud.account,
      Expiration: new Date(Expiration).toISOString(),
    };
  }

  const server = http.createServer(async (request, response) => {
    try {
      const credentials = await credentialsFor(request.headers.authorization ?? '');
      response.setHeader('content-type', 'application/json').end(JSON.stringify(credentials));
    } catch (e) {
      response.writeHead(400).end((e as Error).message);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    environment: (tokenFile) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
    }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
