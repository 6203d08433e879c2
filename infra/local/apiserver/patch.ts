import type { Fields } from './api-kinds.ts';
import { Refusal } from './failure.ts';

export type PatchType = 'merge' | 'strategic';

/** Returns the type by content type. JSON patch and server-side apply are not supported. */
export function patchTypeOf(contentType: string | undefined): PatchType {
  if (contentType?.startsWith('application/merge-patch+json')) return 'merge';
  if (contentType?.startsWith('application/strategic-merge-patch+json')) return 'strategic';
  throw new Refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** Applies a patch by RFC 7396. A strategic patch merges lists of objects that have a merge key. */
export function applyPatch(target: unknown, patch: unknown, type: PatchType, field = ''): unknown {
  const key = mergeKeyOf(field, patch);
  if (type === 'strategic' && key && Array.isArray(patch) && Array.isArray(target))
    return mergeLists(target, patch, key);
  if (!isMap(patch)) return patch;
  const result: Fields = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applyPatch(result[name], value, type, name);
  }
  return result;
}

/** The ports of a container and those of a Service have keys of their own. */
function mergeKeyOf(field: string, patch: unknown): string | undefined {
  if (field !== 'ports') return mergeKeys[field];
  return Array.isArray(patch) && patch.some((p) => isMap(p) && 'containerPort' in p)
    ? 'containerPort'
    : 'port';
}

const mergeKeys: { readonly [field: string]: string } = {
  conditions: 'type',
  containers: 'name',
  podIPs: 'ip',
  ownerReferences: 'uid',
};

function mergeLists(target: readonly Fields[], patch: readonly Fields[], key: string): unknown[] {
  const added = patch.filter((p) => !target.some((t) => t[key] === p[key]));
  const kept = target.map((t) => applyPatch(t, patch.find((p) => p[key] === t[key]) ?? {}, 'strategic'));
  return [...added, ...kept];
}

const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
