/** The subresource `scale` of a workload: its number of replicas by itself. */
import type { Fields, RawObject, StoreKind } from './api-kinds.ts';
import { badRequest } from './failure.ts';
import { applyPatch, type PatchType } from './patch.ts';
import type { Store } from './store.ts';
import type { WriteOptions } from './stored-object.ts';

export function scaleOf({ metadata, spec = {}, status = {} }: RawObject): RawObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const labels =
    (spec['selector'] as { matchLabels?: Record<string, string> } | undefined)?.matchLabels ?? {};
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as RawObject['metadata'],
    spec: { replicas: spec['replicas'] ?? 1 },
    status: {
      replicas: status['replicas'] ?? 0,
      selector: Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(),
    },
  };
}

export interface ScaleWrite {
  readonly kind: StoreKind;
  readonly namespace: string;
  readonly name: string;
  readonly body: Fields;
  /** Undefined for a PUT. */
  readonly patch: PatchType | undefined;
}

export function writeScale(
  store: Store,
  { kind, namespace, name, body, patch }: ScaleWrite,
  options: WriteOptions,
): RawObject {
  const scale = scaleOf(store.get(kind, namespace, name));
  const { spec } = (patch ? applyPatch(scale, body, patch) : body) as { readonly spec?: Fields };
  const replicas = spec?.['replicas'] ?? 0;
  if (!Number.isInteger(replicas) || (replicas as number) < 0)
    throw badRequest(
      `spec.replicas: Invalid value: ${JSON.stringify(replicas)}: must be a whole number from 0 on`,
    );
  return scaleOf(store.patch(kind, { namespace, name }, { spec: { replicas } }, options));
}
