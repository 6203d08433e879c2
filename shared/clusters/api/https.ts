/** The driver of the cluster port (port.ts): Kubernetes' REST calls over the HTTPS transport. */
import { selectorText } from '#shared/kube/selectors/label-selector.ts';
import { parseAnswer, parseObject } from './api-answer.ts';
import type { Connection } from './connection.ts';
import { ClusterApiError, tooLarge } from './errors.ts';
import { isExpired, listPages } from './list.ts';
import { mcsVersions } from './mcs-versions.ts';
import type { ApiKind, ApiList, ApiObject, ClusterApi, ListQuery } from './port.ts';
import { collectionPath, objectPath, resources } from './resources.ts';
import { statusError } from './status.ts';
import {
  type HttpTransport,
  httpTransport,
  type RequestOptions,
  type TransportOptions,
} from './transport.ts';

export interface ClusterApiOptions extends TransportOptions {
  readonly fieldManager: string;
  /** Called with the time of each request, ms, whether it succeeds or not. */
  readonly onRequest?: (ms: number) => void;
  /** Limit for all pages of a list together, bytes. */
  readonly maxListBytes?: number;
}

export interface HttpsClusterApi extends ClusterApi {
  readonly transport: HttpTransport;
  /**
   * The same API over the same connections, with a time-out that `timeoutMs` returns as each call begins; the
   * call rejects with an error that `timeoutMs` throws.
   */
  within(timeoutMs: () => number): ClusterApi;
  /** Closes the idle connections, and each other one after its request. */
  close(): void;
}

/** A cluster's API by its own REST protocol. */
export function httpsClusterApi(
  connection: Connection | (() => Promise<Connection>),
  options: ClusterApiOptions,
): HttpsClusterApi {
  const transport = httpTransport(connection, options);
  const versioned = mcsVersions(transport);
  const request: HttpTransport['request'] = async (...call) => {
    const began = performance.now();
    try {
      return await versioned.request(...call);
    } finally {
      options.onRequest?.(performance.now() - began);
    }
  };
  return {
    ...apiOver({ request }, options),
    transport,
    within: (timeoutMs) =>
      apiOver(
        { request: async (method, path, call) => request(method, path, { ...call, timeoutMs: timeoutMs() }) },
        options,
      ),
    close: () => transport.close(),
  };
}

function apiOver(transport: Pick<HttpTransport, 'request'>, options: ClusterApiOptions): ClusterApi {
  const query = { fieldManager: options.fieldManager };
  const { maxListBytes = Number.POSITIVE_INFINITY } = options;

  async function answerTo(method: string, path: string, request?: RequestOptions): Promise<Buffer> {
    const answer = await transport.request(method, path, request);
    if (answer.status >= 300) throw statusError(answer);
    return answer.body;
  }
  const call = async <T>(method: string, path: string, request?: RequestOptions): Promise<T> =>
    parseObject<T>(await answerTo(method, path, request));

  const api: ClusterApi = {
    get: (kind, namespace, name) =>
      orUndefined(call('GET', objectPath(kind, namespace, name), { idempotent: true })),

    async list(kind, namespace, wanted = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await listAll(transport, kind, namespace, { ...wanted, maxListBytes });
        } catch (e) {
          // The continue token has expired: the list begins again, from a newer state.
          if (!isExpired(e) || attempt === 3) throw e;
        }
      }
    },

    create: (kind, object) =>
      call('POST', collectionPath(kind, object.metadata.namespace ?? ''), {
        query,
        body: bodyOf(kind, object),
      }),

    async dryRunCreate(kind, object) {
      const path = collectionPath(kind, object.metadata.namespace ?? '');
      await call('POST', path, {
        query: { ...query, dryRun: 'All' },
        body: bodyOf(kind, object),
        idempotent: true,
      });
    },

    replace(kind, object) {
      const { namespace = '', name, resourceVersion } = object.metadata;
      // A repeated PUT with a resourceVersion can only fail with a conflict.
      return call('PUT', objectPath(kind, namespace, name), {
        query,
        body: bodyOf(kind, object),
        idempotent: Boolean(resourceVersion),
      });
    },

    patch: (kind, namespace, name, patch) =>
      call('PATCH', objectPath(kind, namespace, name), {
        query,
        body: JSON.stringify(patch),
        contentType: 'application/merge-patch+json',
      }),

    patchStatus: (kind, namespace, name, status) =>
      call('PATCH', `${objectPath(kind, namespace, name)}/status`, {
        query,
        body: JSON.stringify({ status }),
        contentType: 'application/merge-patch+json',
      }),

    async delete(kind, namespace, name, preconditions) {
      const body = JSON.stringify({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(preconditions && { preconditions }),
      });
      const deleting = answerTo('DELETE', objectPath(kind, namespace, name), {
        body,
        idempotent: preconditions !== undefined,
      });
      return (await orUndefined(deleting.then(parseAnswer))) !== undefined;
    },

    async identity() {
      // A probe that waits in line behind calls of one service that hang would open the circuit of a cluster
      // that is well.
      const { metadata } = await call<{ metadata: { uid?: unknown } }>(
        'GET',
        '/api/v1/namespaces/kube-system',
        { idempotent: true, urgent: true },
      );
      if (typeof metadata.uid !== 'string' || metadata.uid === '')
        throw new ClusterApiError('the kube-system namespace has no uid', { status: 0 });
      return metadata.uid;
    },

    async allows(resourceAttributes) {
      const apiVersion = 'authorization.k8s.io/v1';
      const body = JSON.stringify({
        apiVersion,
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      });
      const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
      const review = parseAnswer(await answerTo('POST', path, { body, idempotent: true })) as {
        status?: { allowed?: boolean } | null;
      };
      return review.status?.allowed === true;
    },
  };
  return api;
}

const pageOptions = <T, U>({ labels, atMost, timeoutMs, signal }: ListQuery<T, U>) => ({
  query: { labelSelector: labels && selectorText(labels) },
  ...(atMost !== undefined && { pageSize: atMost }),
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(signal && { signal }),
});

async function listAll<K extends ApiKind, T>(
  transport: Pick<HttpTransport, 'request'>,
  kind: K,
  namespace: string,
  query: ListQuery<ApiObject[K], T> & { readonly maxListBytes: number },
): Promise<ApiList<T>> {
  const { atMost, keep = (object) => object as T, maxListBytes } = query;
  const items: T[] = [];
  let resourceVersion = '';
  let bytes = 0;
  const path = collectionPath(kind, namespace);
  const pages = listPages<ApiObject[K]>(transport, path, pageOptions(query));
  for await (const page of pages) {
    resourceVersion = page.resourceVersion;
    bytes += page.bytes;
    if (bytes > maxListBytes)
      throw new ClusterApiError(`a list of ${kind} has more than ${maxListBytes} bytes`, {
        reason: tooLarge,
      });
    for (const item of page.items)
      items.push(keep({ ...item, apiVersion: resources[kind].apiVersion, kind }));
    if (atMost !== undefined) break;
  }
  return { resourceVersion, items };
}

/** With its kind: objects out of a list come without. */
const bodyOf = (kind: ApiKind, object: object): string =>
  JSON.stringify({ ...object, apiVersion: resources[kind].apiVersion, kind });

async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (e) {
    // By its reason: a 404 from a proxy on the way does not concern the object.
    if (e instanceof ClusterApiError && e.status === 404 && e.reason === 'NotFound') return undefined;
    throw e;
  }
}
