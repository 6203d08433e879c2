/** Clusters with nodes and DNS, one hub over all of them, and exported Services. */
import { startNodes } from '#test/cluster/packets/cluster-nodes.ts';
import { startDns } from '#test/cluster/packets/dns.ts';
import { apiAddress } from '#test/cluster/packets/network.ts';
import { type User, userOf } from '#test/cluster/packets/user.ts';
import { deployment, namespaceOf, type Servers, service } from '#test/cluster/packets/workload.ts';
import { builtInControllers, type Fleet, startFleet } from '#test/clusterset/multi-cluster/fleet.ts';

export interface MemberNodes extends User {
  /**
   * Deploys and exports. Resolves when the pods are ready. They serve for 12 s after their deletion:
   * importers follow after `sync.importBatchSeconds`, and a busy machine needs its time.
   */
  deployExported(servers: Servers, exportAnnotations?: { readonly [key: string]: string }): Promise<void>;
}

export interface Clusterset {
  readonly fleet: Fleet;
  of(id: string): MemberNodes;
  /** Address of an import, as soon as it has one. */
  importAddress(id: string, namespace: string, name?: string): Promise<string>;
  /** Output of the programs, printed for a failed test. */
  readonly said: readonly string[];
  stop(): Promise<void>;
}

const controllers = ['deployment-controller', 'replicaset-controller', ...builtInControllers].join();

export async function startClusterset(ids: readonly string[], nodesEach = 2): Promise<Clusterset> {
  const members = Object.fromEntries(ids.map((id) => [id, { address: apiAddress(id), controllers }]));
  const fleet = await startFleet({ members, sameness: 'all' });
  const started = new Map<string, MemberNodes>();
  const stop = async (): Promise<void> => {
    await Promise.allSettled([...started.values()].map(({ nodes }) => nodes.stop()));
    await fleet.stop();
  };
  try {
    for (const id of ids) {
      const { controlPlane, api } = fleet.members[id] as Fleet['members'][string];
      const nodes = await startNodes({ cluster: id, controlPlane, api, nodes: nodesEach });
      started.set(id, memberNodes(userOf(controlPlane, nodes)));
      await startDns(nodes, controlPlane, { multicluster: true });
    }
  } catch (e) {
    await stop();
    throw e;
  }
  return {
    fleet,
    of: (id) => started.get(id) as MemberNodes,
    importAddress: (id, namespace, name = 'web') => {
      const { api, observed } = fleet.members[id] as Fleet['members'][string];
      return observed.eventually(async () => {
        const address = (await api.get('ServiceImport', namespace, name))?.spec.ips?.[0];
        if (!address) throw new Error(`the import of ${namespace}/${name} in ${id} has no address`);
        return address;
      }, 60_000);
    },
    get said() {
      return [
        ...fleet.lines.slice(-60),
        ...[...started.values()].flatMap(({ nodes }) => nodes.said.slice(-30)),
      ];
    },
    stop,
  };
}

function memberNodes(user: User): MemberNodes {
  return {
    ...user,
    async deployExported(servers, annotations = {}) {
      const { name = 'web', namespace } = servers;
      const serviceExport = {
        apiVersion: 'multicluster.x-k8s.io/v1beta1',
        kind: 'ServiceExport',
        metadata: { name, namespace, annotations },
      };
      await user.apply([
        namespaceOf(namespace),
        service(servers),
        deployment({ preStop: 12, ...servers }),
        serviceExport,
      ]);
      await user.rolledOut(namespace, name);
    },
  };
}
