import { Refusal } from './failure.ts';

export type PatchType = 'merge' | 'strategic';

/** By content type; JSON patch and server-side apply are not spoken here. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  if (contentType?.startsWith('application/merge-patch+json')) return 'merge';
  if (contentType?.startsWith('application/strategic-merge-patch+json')) return 'strategic';
  throw new Refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** RFC 7396; lists of objects with a merge key are merged by it when the patch is a strategic one. */
export function applyPatch(target: unknown, patch: unknown, type: PatchType, field = ''): unknown {
  const key = mergeKeys[field];
  if (type === 'strategic' && key && Array.isArray(patch) && Array.isArray(target)) return mergeLists(target, patch, key);
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applyPatch(result[name], value, type, name);
  }
  return result;
}

const mergeKeys: { readonly [field: string]: string } = {
  conditions: 'type',
  containers: 'name',
  initContainers: 'name',
  podIPs: 'ip',
  ownerReferences: 'uid',
};

type Item = Record<string, unknown>;

function mergeLists(target: readonly Item[], patch: readonly Item[], key: string): Item[] {
  const added = patch.filter((p) => p['$patch'] !== 'delete' && !target.some((t) => t[key] === p[key]));
  const kept = target.flatMap((t) => {
    const change = patch.find((p) => p[key] === t[key]);
    if (change?.['$patch'] === 'delete') return [];
    return [change ? (applyPatch(t, change, 'strategic') as Item) : t];
  });
  return [...added, ...kept];
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
