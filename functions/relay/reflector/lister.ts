/** Reads one list page by page, and sends each page before it reads the next. */
import { isTooLarge } from '#shared/clusters/api/errors.ts';
import type { Kind } from '#shared/kube/types.ts';
import { encodeParts, type ListedObject } from '#shared/queue/list-parts.ts';
import type { EventsHeader } from '#shared/queue/messages.ts';
import { relayKey } from '../projection/entries.ts';
import { ClusterReplaced } from '../runtime/relay-errors.ts';
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
  readonly asOf: string;
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
  const { kind, header, beside } = request;
  const listId = deps.newId();
  let version = '';
  let parts = 0;
  if (!beside) deps.sentIndex.reset(kind);
  for await (const { asOf, objects, from, to } of listedPages(deps, request, signal)) {
    version = asOf;
    const range = { from, to, first: parts };
    const { bodies, tooLarge } = encodeParts({ header, kind, asOf, listId }, objects, range, deps.limits);
    for (const key of tooLarge) reportUnsendable(deps, kind, key);
    parts += bodies.length;
    if (bodies.length > 0) await send(bodies);
  }
  if (!beside) deps.sentIndex.complete(kind);
  return version;
}

/** Exactly these objects have keys after `from` up to `to`; an empty `to` is the end of the list. */
interface PageOfList extends Pick<ReadPage, 'asOf' | 'objects'> {
  readonly from: string;
  readonly to: string;
}

/** The pages of one list, all of one version. Each is requested when the one before it is sent. */
async function* listedPages(
  deps: ListerDeps,
  request: ListRequest,
  signal: AbortSignal,
): AsyncGenerator<PageOfList> {
  const { kind } = request;
  let asOf: string | undefined;
  let token: string | undefined;
  let from = '';
  do {
    const page = await readPage(deps, request, token, signal);
    asOf ??= checkFirstPage(request, page.asOf);
    if (asOf !== page.asOf)
      throw new MalformedAnswer(`pages of one list of ${kind} are of ${asOf} and ${page.asOf}`);
    const { objects } = page;
    checkAscending(kind, from, objects);
    token = page.token;
    const to = token === undefined ? '' : (objects.at(-1)?.key ?? from);
    if (token === undefined || to !== from) yield { asOf, objects, from, to };
    from = to;
  } while (token !== undefined);
}

function checkFirstPage({ kind, floor, onVersion }: ListRequest, asOf: string): string {
  if (floor !== undefined && isNewer(floor, asOf))
    throw new ClusterReplaced(`a list of ${kind} at ${asOf} after ${floor}`, { wentBack: true });
  onVersion(asOf);
  return asOf;
}

function reportUnsendable({ meter, log }: ListerDeps, kind: Kind, key: string): void {
  meter.add('relay_unsendable_total', kind);
  log.error('object omitted from list: cannot be sent', { kind, key });
}

async function readPage(
  deps: ListerDeps,
  request: ListRequest,
  token: string | undefined,
  signal: AbortSignal,
): Promise<ReadPage> {
  const { kind, beside } = request;
  const page = await boundedPage(deps, request, token, signal);
  const asOf = checkVersion(page.resourceVersion);
  const objects = page.items.map((object): ListedObject => {
    const itemVersion = checkVersion(object.metadata.resourceVersion);
    if (isNewer(itemVersion, asOf))
      throw new MalformedAnswer(`${relayKey(object)} at ${itemVersion} in a list at ${asOf}`);
    return { key: relayKey(object), entry: deps.sentIndex.onListed(kind, object, itemVersion, beside) };
  });
  return { asOf, token: page.continue, objects };
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
      if (page.bytes !== undefined) size.adapt(page.bytes);
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

/** Keys as etcd orders them: by their bytes, which is not the order of UTF-16 units that `<` has. */
const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
