import type { Key } from '#shared/store/table.ts';
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
    kinds.flatMap((kind) =>
      items.flatMap((item) => {
        const { namespace, name } = objectOf(kind, cluster, item) ?? {};
        return name === undefined || store.find(kind, namespace, name)
          ? []
          : [`${kind} ${namespace}/${name} of ${cluster}`];
      }),
    ),
  );
}

/** Undefined: the record is of another kind or cluster. */
function objectOf(
  kind: (typeof kinds)[number],
  cluster: string,
  { pk, sk }: Key,
): { readonly namespace: string; readonly name: string } | undefined {
  const partition = cluster + partitions[kind];
  if (partition.endsWith('#'))
    return pk.startsWith(partition) ? { namespace: pk.slice(partition.length), name: sk } : undefined;
  if (pk !== partition) return undefined;
  if (kind === 'Namespace') return { namespace: '', name: sk };
  const [namespace = '', name = ''] = sk.split('/');
  return { namespace, name };
}
