import { defaultLimits, type RelayLimits } from '#shared/contract/limits.ts';
import { isLeftoverCandidate } from '#shared/controllers/endpoints/outcome.ts';
import { lastContentWrite } from '#shared/kube/field-managers.ts';
import {
  importsManagedBy,
  labelEndpointsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
} from '#shared/kube/names.ts';
import { encodeNotReady } from '#shared/kube/projection/not-ready.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Endpoints, InputKind, OutputKind, Pod } from '#shared/kube/types.ts';
import { sizeOf } from '#shared/queue/message-size.ts';
import { type InputEntry, maxProjectionSize, type OutputEntry } from '#shared/queue/messages.ts';
import { isWrittenByHub } from '../source/last-writer.ts';
import type { KubeObject } from '../source/watch-source.ts';

/** `full`: Endpoints and slices whole, for shadow mode; otherwise their metadata alone. */
export type Outputs = 'metadata' | 'full';

/** "namespace/name", "/name" for nodes: the order of objects in a list. */
export const relayKey = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Throws for an object that cannot be sent. */
export function inputEntry(
  kind: InputKind,
  object: KubeObject,
  resourceVersion: string,
  observedAtMs?: number,
): InputEntry {
  const { namespace = '', name } = object.metadata;
  const projection = encodeProjection(kind, object as never);
  const bytes = Buffer.byteLength(projection);
  const maxBytes = maxProjectionSize[kind];
  if (bytes > maxBytes)
    throw new RangeError(`its projection has ${bytes} bytes: at most ${maxBytes} are sent`);
  const notReady = kind === 'Pod' ? encodeNotReady(object as Pod) : undefined;
  return {
    namespace,
    name,
    resourceVersion,
    projection,
    ...(notReady !== undefined && { notReady }),
    ...(observedAtMs !== undefined && { observedAtMs }),
  };
}

export function deletedInput(object: KubeObject, resourceVersion: string, observedAtMs: number): InputEntry {
  const { namespace = '', name } = object.metadata;
  return { namespace, name, resourceVersion, observedAtMs };
}

export interface OutputEntryOptions {
  readonly outputs?: Outputs;
  /** Fields that the object does not have: when it was observed, its former service, its deletion. */
  readonly more?: Partial<OutputEntry>;
  readonly limits?: RelayLimits;
}

/** Throws for an object that cannot be sent. */
export function outputEntry(
  kind: OutputKind,
  object: KubeObject,
  resourceVersion: string,
  { outputs = 'metadata', more = {}, limits = defaultLimits.relay }: OutputEntryOptions = {},
): OutputEntry {
  const { namespace = '', name, uid = '', generation, labels, annotations } = object.metadata;
  const managedBy = labels?.[kind === 'Endpoints' ? labelEndpointsManagedBy : labelSliceManagedBy];
  const entry: OutputEntry = {
    namespace,
    name,
    resourceVersion,
    uid,
    ...(kind === 'EndpointSlice' && generation !== undefined && { generation }),
    service: kind === 'Endpoints' ? name : serviceOfSlice(object),
    ...(managedBy !== undefined && { managedBy }),
    ...(managedBy === importsManagedBy &&
      !more.deleted &&
      isWrittenByHub(object) && { isOwnWrite: true as const }),
    ...(kind === 'Endpoints' && !isLeftoverCandidate(annotations) && { leader: true }),
    ...(outputs === 'full' && !more.deleted && { ...writerOf(object), object: whole(kind, object) }),
    ...more,
  };
  const bytes = entry.object ? sizeOf(entry) : 0;
  if (bytes > limits.entryBytes)
    throw new RangeError(`the whole object has ${bytes} bytes: at most ${limits.entryBytes} are sent`);
  return entry;
}

/** A slice's service; "" without one. */
export const serviceOfSlice = (slice: KubeObject): string => slice.metadata.labels?.[labelServiceName] ?? '';

export const sliceManager = (slice: KubeObject): string | undefined =>
  slice.metadata.labels?.[labelSliceManagedBy];

function writerOf(object: KubeObject): Pick<OutputEntry, 'manager'> {
  const { manager } = lastContentWrite(object as Endpoints | EndpointSlice) ?? {};
  return manager ? { manager: manager.slice(0, 128) } : {};
}

/**
 * The object as a GET returns it, without managedFields, which are half of it and do not concern endpoints.
 */
function whole(kind: OutputKind, object: KubeObject): object {
  const { managedFields: _, ...metadata } = object.metadata;
  // The API server leaves out the kind of a list's items.
  const apiVersion = kind === 'Endpoints' ? 'v1' : 'discovery.k8s.io/v1';
  return { ...(object as Endpoints | EndpointSlice), apiVersion, kind, metadata };
}
