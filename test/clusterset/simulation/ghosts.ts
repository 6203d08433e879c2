import type { SetWorld } from './set-world.ts';

const kinds = ['Service', 'Pod', 'ServiceExport', 'ServiceImport', 'Namespace'] as const;
const partitions = {
  Service: '#SVC#',
  Pod: '#POD#',
  ServiceExport: '#EXPORT',
  ServiceImport: '#IMPORT',
  Namespace: '#NSO',
} as const;

/** Objects of which the hub has a record, and the cluster has none. */
export async function ghostsOf(world: SetWorld): Promise<readonly string[]> {
  const items = (await world.table.items()).filter((item) => item['o'] !== undefined);
  return world.present.flatMap(({ cluster, store }) =>
    kinds.flatMap((kind) => {
      const partition = cluster + partitions[kind];
      return items.flatMap(({ pk, sk }) => {
        if (partition.endsWith('#') ? !pk.startsWith(partition) : pk !== partition) return [];
        const [namespace, name] = partition.endsWith('#')
          ? [pk.slice(partition.length), sk]
          : kind === 'Namespace'
            ? ['', sk]
            : sk.split('/');
        return store.find(kind, namespace ?? '', name ?? '')
          ? []
          : [`${kind} ${namespace}/${name} of ${cluster}`];
      });
    }),
  );
}
