import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { detailsOf, kindFacts, type RawObject, type StoreKind, storeKinds } from './api-kinds.ts';
import { discoveryOf } from './discovery.ts';
import { dryRunCreate } from './dry-run.ts';
import { badRequest, Refusal } from './failure.ts';
import { keyOf } from './history.ts';
import { fieldMatch, labelMatch, type Target } from './list-selectors.ts';
import { patchTypeOf } from './patch.ts';
import { scaleOf, writeScale } from './scale.ts';
import type { Store } from './store.ts';
import type { DeleteOptions, WriteOptions } from './stored-object.ts';
import { asksForTable, tableOf } from './tables.ts';
import { watchKind } from './watch.ts';

export interface ApiServerOptions {
  readonly store: Store;
  /** 0 or undefined chooses any free port. */
  readonly port?: number;
  /** The bearer token that every request must have. If undefined, requests need no token. */
  readonly token?: string;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the API server's wire protocol over a store, on 127.0.0.1, with the kinds of api-kinds.ts as JSON.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const server = createServer((request, response) => {
    response.on('error', () => {});
    handle(options, request, response).catch((e: unknown) => {
      const { body } = e instanceof Refusal ? e : new Refusal(500, 'InternalError', String(e));
      answer(response, body.code ?? 500, body);
    });
  });
  // The server keeps idle connections longer than any client does, so it never closes a connection that a
  // client begins to use.
  server.keepAliveTimeout = 120_000;
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  { store, token }: ApiServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://server');
  const method = request.method ?? 'GET';
  if (/^\/(readyz|livez|healthz)$/.test(pathname)) return void response.end('ok');
  if (token && request.headers.authorization !== `Bearer ${token}`)
    throw new Refusal(401, 'Unauthorized', 'Unauthorized');
  const sent = await text(request);
  if (/protobuf/.test(request.headers['content-type'] ?? '')) throw unsupportedBody();
  const body = parse(sent || '{}', 'object');
  const ofServer = answerOfServer(method, pathname, body);
  if (ofServer) return answer(response, ...ofServer);
  // An empty schema, as protobuf: kubectl then checks no fields.
  if (pathname === '/openapi/v2') return void response.end();

  const { name, subresource, ...place } = placeOf(pathname);
  const manager = managerOf(query, request.headers['user-agent']);
  const write = { manager, ...(subresource === 'status' && { subresource: 'status' as const }) };
  const table = asksForTable(request.headers.accept);
  const asked = { method, ...place, body, write };
  if (name !== undefined) {
    const ofName = { ...asked, name, contentType: request.headers['content-type'] };
    const isOfScale = subresource === 'scale' && method !== 'DELETE';
    return answer(response, ...(isOfScale ? ofScale(store, ofName) : ofObject(store, ofName, table)));
  }
  const [byLabel, byField] = [
    labelMatch(query.get('labelSelector') ?? ''),
    fieldMatch(place.kind, query.get('fieldSelector') ?? ''),
  ];
  const target: Target = { ...place, query, table, match: (o) => byLabel(o) && byField(o) };
  if (method === 'GET' && /^(true|1)$/.test(query.get('watch') ?? ''))
    return watchKind(store, target, response);
  answer(response, ...ofCollection(store, target, asked));
}

const managerOf = (query: URLSearchParams, userAgent: string | undefined): string =>
  query.get('fieldManager') || userAgent?.split('/')[0] || 'unknown';

/** What is asked about the server itself, and no kind. */
function answerOfServer(method: string, pathname: string, body: object): Answered | undefined {
  if (pathname === '/version') return [200, { major: '1', minor: '37', gitVersion: 'v1.37.2' }];
  if (pathname.endsWith('/selfsubjectaccessreviews')) return [201, { ...body, status: { allowed: true } }];
  const discovery = method === 'GET' ? discoveryOf(pathname) : undefined;
  return discovery && [200, discovery];
}

interface Place {
  readonly kind: StoreKind;
  readonly namespace: string;
  /** Undefined: the path is that of a collection. */
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

function placeOf(pathname: string): Place {
  const [, root, namespace = '', plural, name, subresource] = route.exec(decodeURIComponent(pathname)) ?? [];
  const kind = storeKinds.find((k) => kindFacts[k].root === root && kindFacts[k].plural === plural);
  const known =
    kind &&
    (!subresource || (subresource === 'scale' ? kindFacts[kind].hasScale : kindFacts[kind].hasStatus));
  if (!known) throw new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});
  return { kind, namespace, name, subresource };
}

interface Asked {
  readonly method: string;
  readonly kind: StoreKind;
  readonly namespace: string;
  readonly body: Record<string, unknown>;
  readonly write: WriteOptions;
}

type Answered = readonly [status: number, body: object];

function ofCollection(
  store: Store,
  target: Target,
  { method, kind, namespace, body, write }: Asked,
): Answered {
  if (method === 'GET') return [200, listPage(store, target)];
  if (method === 'POST' && target.query.get('dryRun') === 'All') {
    dryRunCreate(store, kind, namespace, body);
    return [201, body];
  }
  if (method === 'POST') return [201, store.create(kind, namespace, body, write)];
  if (method !== 'DELETE') throw notAllowed();
  const items = store.list(kind, namespace).filter(target.match);
  for (const { metadata } of items) store.delete(kind, metadata.namespace ?? '', metadata.name, body);
  return [200, listOf(kind, { resourceVersion: String(store.resourceVersion) }, items)];
}

interface AskedOfName extends Asked {
  readonly name: string;
  readonly contentType: string | undefined;
}

function ofScale(store: Store, { method, contentType, write, ...of }: AskedOfName): Answered {
  if (method === 'GET') return [200, scaleOf(store.get(of.kind, of.namespace, of.name))];
  const patch = method === 'PATCH' ? patchTypeOf(contentType) : undefined;
  return [200, writeScale(store, { ...of, patch }, write)];
}

function ofObject(
  store: Store,
  { method, kind, namespace, name, body, write, contentType }: AskedOfName,
  table: boolean,
): Answered {
  const at = { namespace, name };
  switch (method) {
    case 'GET': {
      const object = store.get(kind, namespace, name);
      return [200, table ? tableOf(kind, [object], { nowMs: Date.now() }) : object];
    }
    case 'PUT':
      return [store.find(kind, namespace, name) ? 200 : 201, store.replace(kind, at, body, write)];
    case 'PATCH':
      return [200, store.patch(kind, at, body, { ...write, type: patchTypeOf(contentType) })];
    case 'DELETE': {
      const { object, gone } = store.delete(kind, namespace, name, body as DeleteOptions);
      const success = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Success',
        details: { ...detailsOf(kind, name), uid: object.metadata.uid },
      };
      return [200, gone && !kindFacts[kind].returnsDeleted ? success : object];
    }
    default:
      throw notAllowed();
  }
}

const notAllowed = (): Refusal =>
  new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

const route =
  /^(\/api\/v1|\/apis\/[a-z0-9.-]+\/[a-z0-9]+)(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/]+))?(?:\/(status|scale))?$/;

/** Later pages show the state of the first page, as long as the history reaches back to it. */
function listPage(store: Store, { kind, namespace, query, table, match }: Target): object {
  const token = query.get('continue');
  const page = token
    ? (parse(Buffer.from(token, 'base64url').toString(), 'continue token') as { rv: number; start: string })
    : undefined;
  const resourceVersion = page?.rv ?? store.resourceVersion;
  const keyOfItem = ({ metadata }: RawObject) => keyOf(kind, metadata.namespace, metadata.name);
  const all = store
    .list(kind, namespace, resourceVersion)
    .filter((o) => match(o) && (!page || keyOfItem(o) > page.start));
  const items = all.slice(0, Number(query.get('limit')) || all.length);
  const remaining = all.length - items.length;
  const place = { rv: resourceVersion, start: remaining > 0 ? keyOfItem(items.at(-1) as RawObject) : '' };
  const more = remaining > 0 && { continue: Buffer.from(JSON.stringify(place)).toString('base64url') };
  const metadata = { resourceVersion: String(resourceVersion), ...more };
  return table ? tableOf(kind, items, { metadata, nowMs: Date.now() }) : listOf(kind, metadata, items);
}

/** The API server leaves out the kind of objects in a list. */
const listOf = (kind: StoreKind, metadata: object, items: readonly RawObject[]): object => ({
  kind: `${kind}List`,
  apiVersion: kindFacts[kind].apiVersion,
  metadata,
  items: items.map(({ kind: _, apiVersion: __, ...rest }) => rest),
});

const unsupportedBody = (): Refusal =>
  new Refusal(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json',
  );

function parse(json: string, what: string): Record<string, unknown> {
  try {
    return JSON.parse(json);
  } catch (e) {
    throw badRequest(`the ${what} provided is unrecognized: ${(e as Error).message}`);
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
