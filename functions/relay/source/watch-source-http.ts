/** The relay's reads over HTTP: lists in pages, and watches as streams of lines. */
import { parsePage } from '#shared/clusters/api/api-answer.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { collectionPath } from '#shared/clusters/api/resources.ts';
import { errorOfStatus, statusError } from '#shared/clusters/api/status.ts';
import type { HttpStream, HttpTransport, RequestOptions } from '#shared/clusters/api/transport.ts';
import type { Status } from '#shared/kube/types.ts';
import type { Clock } from '../runtime/clock.ts';
import { type KubeObject, MalformedAnswer, type WatchEvent, type WatchSource } from './watch-source.ts';

/** A watch that is silent for this long is broken off: bookmarks come about once a minute. */
const idleMs = 90_000;
const listTimeoutMs = 60_000;

/**
 * `maxLineLength` of a stream, bytes; etcd takes objects of 1.5 MB at most. `namespace`: empty for all of the
 * cluster.
 */
export function httpWatchSource(
  transport: HttpTransport,
  clock: Clock,
  { maxLineLength = 16 * 1024 * 1024, namespace = '' } = {},
): WatchSource {
  async function get(path: string, call: RequestOptions): Promise<Buffer> {
    const answer = await transport.request('GET', path, {
      ...call,
      timeoutMs: listTimeoutMs,
      idempotent: true,
    });
    if (answer.status !== 200) throw statusError(answer);
    return answer.body;
  }

  return {
    async identity(signal) {
      const namespace = parse<{ metadata?: { uid?: string } } | null>(
        await get('/api/v1/namespaces/kube-system', { signal }),
      );
      if (!namespace?.metadata?.uid) throw new MalformedAnswer('the kube-system namespace has no uid');
      return namespace.metadata.uid;
    },

    async version(signal) {
      const { gitVersion } =
        parse<{ readonly gitVersion?: unknown } | null>(await get('/version', { signal })) ?? {};
      if (typeof gitVersion !== 'string')
        throw new MalformedAnswer('the answer of /version has no gitVersion');
      return gitVersion;
    },

    async list(kind, { limit, continue: token, maxBytes }, signal) {
      const query = { limit, continue: token };
      const body = await get(collectionPath(kind, namespace), {
        query,
        signal,
        ...(maxBytes !== undefined && { maxBytes }),
      });
      const { resourceVersion, items, continue: next } = parsePage<KubeObject>(body);
      if (next !== undefined && next === token)
        throw new MalformedAnswer(`a page of the list of ${kind} names itself as the next page`);
      if (!items.every(isNamed)) throw new MalformedAnswer(`an object of the list of ${kind} has no name`);
      return { resourceVersion, items, bytes: body.length, ...(next && { continue: next }) };
    },

    async *watch(kind, resourceVersion, signal) {
      // Random, so that a fleet that started together does not reconnect together.
      const timeoutSeconds = 300 + Math.floor(clock.random() * 300);
      const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds };
      const stream = await transport.stream('GET', collectionPath(kind, namespace), { query, signal });
      try {
        const chunks = withIdleTimer(stream, clock, idleMs);
        if (stream.status !== 200) throw statusError({ ...stream, body: await firstBytes(chunks) });
        for await (const line of lines(chunks, maxLineLength)) yield readEvent(line);
      } finally {
        stream.destroy();
      }
    },
  };
}

function readEvent(line: Buffer): WatchEvent {
  const event = parse<{ type?: string; object?: KubeObject } | null>(line);
  const { type, object } = event ?? {};
  if (typeof object !== 'object' || object === null)
    throw new MalformedAnswer(`a line of the watch is no event: ${excerpt(line)}`);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isNamed(object)) throw new MalformedAnswer(`an object of the watch has no name: ${excerpt(line)}`);
      return { type, object };
    case 'BOOKMARK':
      return { type, resourceVersion: object.metadata?.resourceVersion ?? '' };
    case 'ERROR':
      throw errorOfStatus(object as unknown as Status);
    default:
      throw new MalformedAnswer(`a line of the watch is no event: ${excerpt(line)}`);
  }
}

/** Returns true if the object has a name. The hub refuses the whole message of an object without one. */
const isNamed = (object: KubeObject): boolean =>
  typeof object.metadata?.name === 'string' &&
  object.metadata.name !== '' &&
  typeof (object.metadata.namespace ?? '') === 'string';

/**
 * The timer runs only while the reader waits for the server: the time that an event takes to be handled is
 * not the server's silence.
 */
async function* withIdleTimer(stream: HttpStream, clock: Clock, idleMs: number): AsyncGenerator<Buffer> {
  const chunks = stream.chunks[Symbol.asyncIterator]();
  for (;;) {
    let idle = false;
    const cancel = clock.after(idleMs, () => {
      idle = true;
      stream.destroy();
    });
    try {
      const { value, done } = await chunks.next();
      if (done) return;
      cancel();
      yield value;
    } catch (e) {
      throw idle ? new ClusterApiError(`the watch was silent for ${idleMs} ms`, { status: 0, cause: e }) : e;
    } finally {
      cancel();
    }
  }
}

async function* lines(chunks: AsyncIterable<Buffer>, longest: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      const line = joined(parts, piece);
      parts = [];
      held = 0;
      if (line.length > 0) yield line;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > longest) throw new MalformedAnswer(`a line of the watch is longer than ${longest} bytes`);
  }
  // A line without its end was cut off with the connection; the resumed watch repeats its event.
}

const joined = (parts: readonly Buffer[], last: Buffer): Buffer =>
  parts.length > 0 ? Buffer.concat([...parts, last]) : last;

async function firstBytes(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > 64 * 1024) break;
  }
  return Buffer.concat(parts);
}

function parse<T>(bytes: Buffer): T {
  try {
    return JSON.parse(bytes.toString()) as T;
  } catch (cause) {
    throw new MalformedAnswer(`the API server's answer is not JSON: ${excerpt(bytes)}`, { cause });
  }
}

const excerpt = (bytes: Buffer): string => JSON.stringify(bytes.subarray(0, 80).toString());
