import type { CoreV1Event, V1Namespace } from '@kubernetes/client-node';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import { type HttpTransport, httpTransport, type RequestOptions } from '#shared/clusters/api/transport.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { EndpointSlice, Endpoints, Node, Pod, Service, Wire } from '#shared/kube/types.ts';

export interface Objects {
  readonly Namespace: Wire<V1Namespace> & { readonly metadata: { readonly name: string } };
  readonly Node: Node;
  readonly Service: Service;
  readonly Pod: Pod;
  readonly Endpoints: Endpoints;
  readonly EndpointSlice: EndpointSlice;
  readonly Event: Wire<CoreV1Event> & { readonly metadata: { readonly name: string } };
  readonly ServiceExport: ServiceExport;
  readonly ServiceImport: ServiceImport;
}
export type ObjectKind = keyof Objects;
type Loose<T> = { readonly [K in keyof T]?: T[K] extends object | undefined ? Loose<T[K]> : T[K] };
/** An object as a user would write it, which the server completes. */
export type Draft<K extends ObjectKind> = Loose<Objects[K]>;

/** A user's view of a cluster: plain requests and their responses. */
export interface Api {
  get<K extends ObjectKind>(kind: K, namespace: string, name: string): Promise<Objects[K] | undefined>;
  list<K extends ObjectKind>(
    kind: K,
    namespace: string,
  ): Promise<{ readonly resourceVersion: string; readonly items: readonly Objects[K][] }>;
  create<K extends ObjectKind>(kind: K, namespace: string, object: Draft<K>): Promise<Objects[K]>;
  /** JSON merge patch. */
  patch<K extends ObjectKind>(kind: K, namespace: string, name: string, patch: Draft<K>): Promise<Objects[K]>;
  /** The same of its status. */
  patchStatus: Api['patch'];
  /** An object that is gone already is fine. */
  delete(
    kind: ObjectKind,
    namespace: string,
    name: string,
    options?: { readonly gracePeriodSeconds: number },
  ): Promise<void>;
  /**
   * Changes after `resourceVersion` until the signal ends it; ends by itself when the server closes the
   * connection.
   */
  watch<K extends ObjectKind>(
    kind: K,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncIterable<WatchEvent<K>>;
  close(): void;
}

export interface WatchEvent<K extends ObjectKind> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Objects[K];
}

const resources: { readonly [K in ObjectKind]: readonly [groupVersion: string, plural: string] } = {
  Namespace: ['v1', 'namespaces'],
  Node: ['v1', 'nodes'],
  Service: ['v1', 'services'],
  Pod: ['v1', 'pods'],
  Endpoints: ['v1', 'endpoints'],
  EndpointSlice: ['discovery.k8s.io/v1', 'endpointslices'],
  Event: ['v1', 'events'],
  ServiceExport: [mcsApiVersion, 'serviceexports'],
  ServiceImport: [mcsApiVersion, 'serviceimports'],
};

export function connectApi(connection: Connection): Api {
  const transport = httpTransport(connection, { userAgent: 'fleet-endpoints-e2e', timeoutMs: 30_000 });
  const merged = <T>(at: string, patch: object): Promise<T> =>
    call(transport, 'PATCH', at, {
      body: JSON.stringify(patch),
      contentType: 'application/merge-patch+json',
    });

  return {
    async get(kind, namespace, name) {
      const answer = await transport.request('GET', path(kind, namespace, name), { idempotent: true });
      return answer.status === 404 ? undefined : read(answer);
    },
    async list(kind, namespace) {
      const answer = await transport.request('GET', path(kind, namespace), { idempotent: true });
      const list = read(answer) as { metadata: { resourceVersion: string }; items: Objects[typeof kind][] };
      return { resourceVersion: list.metadata.resourceVersion, items: list.items };
    },
    async create(kind, namespace, object) {
      return call(transport, 'POST', path(kind, namespace), { body: text(kind, object) });
    },
    patch: async (kind, namespace, name, patch) => merged(path(kind, namespace, name), patch),
    patchStatus: async (kind, namespace, name, patch) =>
      merged(`${path(kind, namespace, name)}/status`, patch),
    async delete(kind, namespace, name, options) {
      const body = JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...options });
      const answer = await transport.request('DELETE', path(kind, namespace, name), { body });
      if (answer.status !== 404) read(answer);
    },
    async *watch(kind, resourceVersion, signal) {
      const query = { watch: 1, resourceVersion, allowWatchBookmarks: true };
      const stream = await transport.stream('GET', path(kind, ''), { query, signal });
      let rest = '';
      const decoder = new TextDecoder();
      for await (const chunk of stream.chunks) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line) yield JSON.parse(line);
      }
    },
    close: () => transport.close(),
  };
}

function path(kind: ObjectKind, namespace: string, name?: string): string {
  const [groupVersion, plural] = resources[kind];
  const prefix = groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`;
  return `${prefix}${namespace && `/namespaces/${namespace}`}/${plural}${name === undefined ? '' : `/${name}`}`;
}

function text(kind: ObjectKind, object: object): string {
  return JSON.stringify({ apiVersion: resources[kind][0], kind, ...object });
}

async function call<T>(
  transport: HttpTransport,
  method: string,
  at: string,
  options: RequestOptions,
): Promise<T> {
  return read(await transport.request(method, at, options));
}

function read<T>(answer: Parameters<typeof statusError>[0]): T {
  if (answer.status >= 400) throw statusError(answer);
  return JSON.parse(answer.body.toString()) as T;
}
