/** A user of a cluster: kubectl with all rights. */
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubectl } from '#test/support/relay-install.ts';
import type { ClusterNodes } from './cluster-nodes.ts';

export interface User {
  readonly nodes: ClusterNodes;
  /** Standard output of kubectl. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(objects: readonly object[]): Promise<void>;
  /** `kubectl rollout restart`, which begins a rolling update. */
  restart(namespace: string, name?: string): Promise<void>;
  /** Resolves when the rolling update is complete, and the former pods have ended. */
  rolledOut(namespace: string, name?: string): Promise<void>;
  /** A whole rolling update. */
  update(namespace: string, name?: string): Promise<void>;
}

export function userOf(controlPlane: ControlPlane, nodes: ClusterNodes): User {
  const run = (...args: readonly string[]): Promise<string> => kubectl(controlPlane, args);
  const user: User = {
    nodes,
    kubectl: run,
    apply: async (items) =>
      void (await kubectl(
        controlPlane,
        ['apply', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      )),
    restart: async (namespace, name = 'web') =>
      void (await run('rollout', 'restart', `deployment/${name}`, '-n', namespace)),
    async rolledOut(namespace, name = 'web') {
      await run('rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=120s');
      const deleted = 'jsonpath={.items[?(@.metadata.deletionTimestamp)].metadata.name}';
      const pods = await run('get', 'pods', '-n', namespace, '-l', `app=${name}`, '-o', deleted);
      for (const pod of pods.split(' ').filter(Boolean)) await nodes.event(`${namespace}/${pod}`, 'ended');
    },
    async update(namespace, name) {
      await user.restart(namespace, name);
      await user.rolledOut(namespace, name);
    },
  };
  return user;
}
