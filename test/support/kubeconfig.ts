import { stringify } from 'yaml';
import type { Connection } from '#shared/cluster/connection.ts';

/** A kubeconfig with one context. */
export function kubeconfigText({ server, ca, token }: Connection): string {
  const name = 'cluster';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }) } }],
    users: [{ name, user: token ? { token } : {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
