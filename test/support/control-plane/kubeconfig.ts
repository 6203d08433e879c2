import { stringify } from 'yaml';
import type { Connection } from '#shared/clusters/api/connection.ts';

/** A kubeconfig with one context. */
export const kubeconfigText = (connection: Connection): string => kubeconfigOf({ cluster: connection });

/** A context of its own for each; the first is the current one. */
export function kubeconfigOf(connections: { readonly [context: string]: Connection }): string {
  const all = Object.entries(connections);
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': all[0]?.[0],
    clusters: all.map(([name, { server, ca }]) => ({ name, cluster: { server, ...trust(server, ca) } })),
    users: all.map(([name, { token }]) => ({ name, user: token ? { token } : {} })),
    contexts: all.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  });
}

const trust = (server: string, ca: string | undefined) => ({
  ...(ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  // The Kubernetes client requires this setting for plain HTTP.
  ...(server.startsWith('http:') && { 'insecure-skip-tls-verify': true }),
});
