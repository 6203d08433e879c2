/** Reads one list page by page, and sends each page before it reads the next. */
import { isTooLarge } from '#shared/clusters/api/errors.ts';
import type { Kind } from '#shared/kube/types.ts';
import { encodeParts, type ListedObject } from '#shared/queue/list-parts.ts';
import type { EventsHeader } from '#shared/queue/messages.ts';
import { relayKey } from '../projection/entries.ts';
import { ClusterReplaced } from '../runtime/relay-errors.ts';
import { compareBytes } from '../source/key-order.ts';
import { checkVersion, isNewer } from '../source/resource-version.ts';
import { type ListPage, MalformedAnswer } from '../source/watch-source.ts';
import type { PageSize } from './page-size.ts';
import type { ReflectorDeps } from './reflector-deps.ts';

type ListerDeps = Pick<ReflectorDeps, 'source' | 'sentIndex' | 'meter' | 'log' | 'newId' | 'limits'>;

export interface ListRequest {
  readonly kind: Kind;
  readonly header: EventsHeader;
  /** Kept from list to list: a kind with large objects stays one. */
  readonly pageSize: PageSize;
  /** The version up to which the kind has been read: a consistent list is not older. */
  readonly floor: string | undefined;
  /** A watch goes on beside this list. */
  readonly beside: boolean;
  /** Called with the list's version before its first page is sent. */
  readonly onVersion: (version: string) => void;
}

/**
 * A page without its objects: they are megabytes, and must not be kept while the relay waits for the queue.
 */
interface ReadPage {
  readonly version: string;
  readonly token: string | undefined;
  readonly objects: readonly ListedObject[];
}

/**
 * Lists all pages of a kind and sends each before it requests the next. Resolves with the list's version when
 * every page has been sent. A list that fails midway is dropped: the next one has another id.
 */
export async function listAll(
  deps: ListerDeps,
  request: ListRequest,
  send: (bodies: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  const { kind, header, floor, beside } = request;
  const listId = deps.newId();
  let asOf: string | undefined;
  let from = '';
  let parts = 0;
  let token: string | undefined;
  if (!beside) deps.sentIndex.reset(kind);
  do {
    const page = await readPage(deps, request, token, signal);
    const { version, objects } = page;
    if (asOf === undefined && floor !== undefined && isNewer(floor, version))
      throw new ClusterReplaced(`a list of ${kind} at ${version} after ${floor}`, { wentBack: true });
    if (asOf !== undefined && asOf !== version)
      throw new MalformedAnswer(`pages of one list of ${kind} are of ${asOf} and ${version}`);
    if (asOf === undefined) request.onVersion(version);
    asOf = version;
    token = page.token;
    checkAscending(kind, from, objects);

    const to = token === undefined ? '' : (objects.at(-1)?.key ?? from);
    if (to === from && token !== undefined) continue;
    const { bodies, tooLarge } = encodeParts(
      { header, kind, asOf, listId },
      objects,
      { from, to, first: parts },
      deps.limits,
    );
    for (const key of tooLarge) {
      deps.meter.add('relay_unsendable_total', kind);
      deps.log.error('object omitted from list: cannot be sent', { kind, key });
    }
    parts += bodies.length;
    from = to;
    if (bodies.length > 0) await send(bodies);
  } while (token !== undefined);
  if (!beside) deps.sentIndex.complete(kind);
  return asOf;
}

async function readPage(
  deps: ListerDeps,
  request: ListRequest,
  token: string | undefined,
  signal: AbortSignal,
): Promise<ReadPage> {
  const { kind, beside } = request;
  const page = await boundedPage(deps, request, token, signal);
  const version = checkVersion(page.resourceVersion);
  const objects = page.items.map((object): ListedObject => {
    const itemVersion = checkVersion(object.metadata.resourceVersion);
    if (isNewer(itemVersion, version))
      throw new MalformedAnswer(`${relayKey(object)} at ${itemVersion} in a list at ${version}`);
    return { key: relayKey(object), entry: deps.sentIndex.onListed(kind, object, itemVersion, beside) };
  });
  return { version, token: page.continue, objects };
}

/**
 * Reads a page with as many objects as there is memory for. A page that was broken off is requested again,
 * smaller, with the same token.
 */
async function boundedPage(
  deps: ListerDeps,
  { kind, pageSize: size }: ListRequest,
  token: string | undefined,
  signal: AbortSignal,
): Promise<ListPage> {
  const { maxPageBytes: maxBytes } = deps.limits.relay;
  for (;;) {
    const limit = size.objects;
    try {
      const page = await deps.source.list(kind, { limit, continue: token, maxBytes }, signal);
      if (page.bytes !== undefined) size.came(page.bytes);
      return page;
    } catch (e) {
      if (!isTooLarge(e) || !size.shrink()) throw e;
      deps.log.info('page too large: requested again with fewer objects', {
        kind,
        limit,
        maxBytes,
        next: size.objects,
      });
    }
  }
}

/** A key range means "exactly these objects exist", which holds only if the keys are in order. */
function checkAscending(kind: Kind, from: string, objects: readonly ListedObject[]): void {
  let before = from;
  for (const { key } of objects) {
    if (compareBytes(before, key) >= 0)
      throw new MalformedAnswer(
        `the list of ${kind} is not in order: ${JSON.stringify(key)} after ${JSON.stringify(before)}`,
      );
    before = key;
  }
}
