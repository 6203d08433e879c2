import { stringify } from 'yaml';
import type { Connection } from '#shared/cluster-api/connection.ts';

/** A kubeconfig with one context. */
export function kubeconfigText({ server, ca, token }: Connection): string {
  const name = 'cluster';
  const trust = {
    ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    // client-node wants to be told so before it speaks plain HTTP.
    ...(server.startsWith('http:') && { 'insecure-skip-tls-verify': true }),
  };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name, user: token ? { token } : {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
