/**
 * A small API server on the loopback interface with faults that a test chooses: it refuses, stalls, breaks
 * connections or lies.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Kind, Status } from '#shared/kube/types.ts';

export interface ApiRequest {
  /** `look`: a list of one object, which asks how far the cluster's history has come. */
  readonly verb: 'get' | 'list' | 'look' | 'watch';
  readonly plural: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly at: number;
}

export interface FakeObject {
  readonly kind: Kind;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: object;
    readonly resourceVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** Instead of the usual answer; `usual` gives that one. */
export type Fault = (response: ServerResponse, request: ApiRequest, usual: () => void) => void;

const pluralOf: { readonly [K in Kind]: string } = {
  Service: 'services',
  Pod: 'pods',
  Node: 'nodes',
  Endpoints: 'endpoints',
  EndpointSlice: 'endpointslices',
  Namespace: 'namespaces',
  ServiceExport: 'serviceexports',
  ServiceImport: 'serviceimports',
};

interface Change {
  readonly plural: string;
  readonly version: number;
  readonly line: string;
}

export class FaultyApi {
  readonly requests: ApiRequest[] = [];
  /** Open watches by plural. */
  readonly watches = new Map<string, Set<ServerResponse>>();
  uid = 'cluster-1';
  version = 100;
  /** Watches from before this version get 410. */
  compacted = 0;
  url = '';
  private readonly objects = new Map<string, Map<string, FakeObject>>();
  private readonly changes: Change[] = [];
  private readonly from = new WeakMap<ServerResponse, number>();
  private readonly faults: { readonly what: string; readonly fault: Fault; times: number }[] = [];
  private readonly server = createServer((request, response) => this.handle(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The next `times` requests of that kind (such as "watch pods") meet this. */
  next(what: string, fault: Fault, times = 1): void {
    this.faults.push({ what, fault, times });
  }

  /** Creates or updates. Returns its resourceVersion. */
  put(object: FakeObject): string {
    const shelf = this.shelf(pluralOf[object.kind]);
    const type = shelf.has(keyOf(object)) ? 'MODIFIED' : 'ADDED';
    const stored = {
      ...object,
      metadata: {
        uid: `uid-${object.metadata.name}`,
        ...object.metadata,
        resourceVersion: String(++this.version),
      },
    };
    shelf.set(keyOf(object), stored);
    this.change(pluralOf[object.kind], type, stored);
    return stored.metadata.resourceVersion;
  }

  remove(object: FakeObject): string {
    this.shelf(pluralOf[object.kind]).delete(keyOf(object));
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } };
    this.change(pluralOf[object.kind], 'DELETED', gone);
    return gone.metadata.resourceVersion;
  }

  /**
   * As etcd restored from a backup of that version, with other objects: a watch from a later version is
   * silent until the history has come so far again.
   */
  restore(version: number, objects: readonly FakeObject[] = []): void {
    this.version = version;
    this.changes.length = 0;
    for (const shelf of this.objects.values()) shelf.clear();
    for (const object of objects) this.put(object);
  }

  /** To every open watch of the kind, as it is. */
  say(kind: Kind, line: string): void {
    for (const response of this.watches.get(pluralOf[kind]) ?? []) response.write(line);
  }

  bookmark(kind: Kind, version = this.version): void {
    this.say(
      kind,
      `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })}\n`,
    );
  }

  /** Ends the open watches of the kind: in good order, or as a broken connection does. */
  hangUp(kind: Kind, how: 'end' | 'reset' = 'end'): void {
    for (const response of this.watches.get(pluralOf[kind]) ?? []) {
      this.watches.get(pluralOf[kind])?.delete(response);
      if (how === 'end') response.end();
      else response.socket?.resetAndDestroy();
    }
  }

  count(what: string): number {
    return this.of(what).length;
  }

  of(what: string): ApiRequest[] {
    return this.requests.filter((r) => `${r.verb} ${r.plural}` === what);
  }

  private handle(incoming: IncomingMessage, response: ServerResponse): void {
    const url = new URL(incoming.url ?? '/', 'http://api');
    const plural =
      url.pathname
        .split('/')
        .filter((part) => part !== 'kube-system')
        .at(-1) ?? '';
    const { searchParams: query } = url;
    const list = query.get('limit') === '1' && !query.has('continue') ? 'look' : 'list';
    const verb = url.pathname.endsWith('/kube-system') ? 'get' : query.has('watch') ? 'watch' : list;
    const request: ApiRequest = {
      verb,
      plural,
      query,
      authorization: incoming.headers.authorization,
      at: Date.now(),
    };
    this.requests.push(request);
    const usual = (): void => this[verb === 'look' ? 'list' : verb](response, request);
    const fault = this.faults.find((f) => f.what === `${verb} ${plural}` && f.times > 0);
    if (!fault) usual();
    else {
      fault.times--;
      fault.fault(response, request, usual);
    }
  }

  private get(response: ServerResponse): void {
    json(response, 200, { metadata: { name: 'kube-system', uid: this.uid } });
  }

  private list(response: ServerResponse, { plural, query }: ApiRequest): void {
    const limit = Number(query.get('limit'));
    const [version = String(this.version), start = '0'] = query.get('continue')?.split(':') ?? [];
    const items = [...this.shelf(plural)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    const end = Number(start) + limit;
    const token =
      end < items.length ? { continue: `${version}:${end}`, remainingItemCount: items.length - end } : {};
    json(response, 200, {
      metadata: { resourceVersion: version, ...token },
      items: items.slice(Number(start), end),
    });
  }

  private watch(response: ServerResponse, { plural, query }: ApiRequest): void {
    const from = Number(query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    if (from < this.compacted) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired') })}\n`);
      return;
    }
    const open = this.watches.get(plural) ?? new Set();
    this.watches.set(plural, open.add(response));
    this.from.set(response, from);
    response.once('close', () => open.delete(response));
    for (const change of this.changes)
      if (change.plural === plural && change.version > from) response.write(change.line);
  }

  private change(plural: string, type: string, object: FakeObject): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    this.changes.push({ plural, version: this.version, line });
    for (const response of this.watches.get(plural) ?? [])
      if (this.version > (this.from.get(response) ?? 0)) response.write(line);
  }

  private shelf(plural: string): Map<string, FakeObject> {
    const shelf = this.objects.get(plural) ?? new Map<string, FakeObject>();
    this.objects.set(plural, shelf);
    return shelf;
  }
}

export function json(
  response: ServerResponse,
  code: number,
  body: object,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export const status = (code: number, reason: string, details?: object): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: `${reason} (told to)`,
  ...(details && { details }),
});

/** Answers with a failure, and Retry-After if given. */
export const refuse =
  (code: number, reason: string, retryAfter?: number): Fault =>
  (response) =>
    json(
      response,
      code,
      status(code, reason),
      retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
    );

const keyOf = ({ metadata }: FakeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
