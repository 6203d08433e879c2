/** The embedded API server watches and lists over the wire as a real one does. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '#infra/local/apiserver/http.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { isExpired, listPages } from '#shared/clusters/api/list.ts';
import { type HttpTransport, httpTransport } from '#shared/clusters/api/transport.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: Meta;
  };
}
interface Meta {
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels?: object;
  readonly annotations?: object;
}

const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

describe('watches and continued lists over the wire', () => {
  let server: ApiServer;
  let transport: HttpTransport;
  let store: Store;

  beforeEach(async () => {
    store = new Store({ now: Date.now, uid: randomUUID, suffix: () => 'xxxxx', historyLimit: 100 });
    server = await startApiServer({ store });
    transport = httpTransport({ server: server.url });
  });
  afterEach(async () => {
    transport.close();
    await server.close();
  });

  const put = (name: string, labels: Record<string, string> = {}) => {
    const slice = { metadata: { name, labels }, addressType: 'IPv4', endpoints: [] };
    if (store.find('EndpointSlice', 'default', name))
      store.replace('EndpointSlice', { namespace: 'default', name }, slice);
    else store.create('EndpointSlice', 'default', slice);
  };
  const drop = (name: string) => store.delete('EndpointSlice', 'default', name);

  /** Events until `count` have come, or until the server ends the watch. */
  async function watch(
    query: Record<string, string | number | boolean>,
    count = Number.POSITIVE_INFINITY,
    during?: () => void,
  ): Promise<WatchEvent[]> {
    const stream = await transport.stream('GET', path, { query: { watch: true, ...query } });
    during?.();
    const events: WatchEvent[] = [];
    let rest = '';
    for await (const chunk of stream.chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      events.push(...lines.map((line) => JSON.parse(line) as WatchEvent));
      if (events.length >= count) break;
    }
    return events;
  }
  const brief = (events: readonly WatchEvent[]) => events.map((e) => `${e.type} ${e.object.metadata.name}`);

  it('resumes after the resourceVersion given, and goes on live', async () => {
    put('a');
    const from = store.resourceVersion;
    put('b');
    drop('a');
    const events = await watch({ resourceVersion: from }, 4, () => {
      put('c');
      put('c', { x: 'y' });
    });
    expect(brief(events)).toEqual(['ADDED b', 'DELETED a', 'ADDED c', 'MODIFIED c']);
    const versions = events.map((e) => Number(e.object.metadata.resourceVersion));
    expect(versions).toEqual([1, 2, 3, 4].map((n) => from + n));
  });

  it('a watch without a resourceVersion begins with what there is', async () => {
    for (const name of ['b', 'c']) put(name);
    expect(brief(await watch({}, 2))).toEqual(['ADDED b', 'ADDED c']);
    expect(brief(await watch({ resourceVersion: 0 }, 2))).toEqual(['ADDED b', 'ADDED c']);
  });

  it('shows objects entering and leaving a selection as added and deleted', async () => {
    const from = store.resourceVersion;
    const events = await watch({ resourceVersion: from, labelSelector: 'w=1' }, 4, () => {
      put('s', { w: '1' });
      put('s', { w: '1', v: '1' });
      put('s', { w: '2' });
      drop('s');
      put('t', { w: '1' });
    });
    expect(brief(events)).toEqual(['ADDED s', 'MODIFIED s', 'DELETED s', 'ADDED t']);
    expect(events[2]?.object.metadata).toMatchObject({
      labels: { w: '1', v: '1' },
      resourceVersion: String(from + 3),
    });
  });

  it('a watch ends in time, with a bookmark shortly before for clients that request it', async () => {
    const [bookmark, ...more] = await watch({
      resourceVersion: store.resourceVersion,
      timeoutSeconds: 1,
      allowWatchBookmarks: true,
    });
    expect(bookmark).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'EndpointSlice', metadata: { resourceVersion: String(store.resourceVersion) } },
    });
    expect(more).toEqual([]);
    expect(await watch({ resourceVersion: store.resourceVersion, timeoutSeconds: 1 })).toEqual([]);
  });

  it('marks the end of the initial events when they are asked for', async () => {
    for (const name of ['c', 'b', 't']) put(name);
    const query = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    };
    const events = await watch(query, 4);
    expect(brief(events)).toEqual(['ADDED b', 'ADDED c', 'ADDED t', 'BOOKMARK undefined']);
    expect(events[3]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  it('a resourceVersion that is yet to come is waited for', async () => {
    const from = store.resourceVersion;
    const events = await watch({ resourceVersion: from + 2 }, 1, () => {
      put('early');
      drop('early');
      put('due');
    });
    expect(brief(events)).toEqual(['ADDED due']);
  });

  it('a resourceVersion that is forgotten is an ERROR event with status 410, and the end', async () => {
    const from = store.resourceVersion;
    for (let i = 0; i < 200; i++) put('busy', { i: String(i) });
    const events = await watch({ resourceVersion: from });
    expect(events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
  });

  it('pages are all of the state of the first one', async () => {
    for (let i = 0; i < 5; i++) put(`page-${i}`);
    const first = store.resourceVersion;
    const seen: string[] = [];
    const versions = new Set<string>();
    for await (const page of listPages<{ metadata: Meta }>(transport, path, { pageSize: 2 })) {
      seen.push(...page.items.map((o) => o.metadata.name));
      versions.add(page.resourceVersion);
      if (seen.length > 2) continue;
      drop('page-3');
      put('page-9');
      put('page-4', { changed: 'yes' });
    }
    expect(seen).toEqual(['page-0', 'page-1', 'page-2', 'page-3', 'page-4']);
    expect([...versions]).toEqual([String(first)]);
  });

  it('a continue token whose state is forgotten is a 410', async () => {
    for (const name of ['a', 'b', 'c']) put(name);
    const reading = async () => {
      for await (const _ of listPages<object>(transport, path, { pageSize: 2 })) {
        put('late', { at: randomUUID() });
        store.compact();
      }
    };
    const error = await reading().then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(isExpired(error)).toBe(true);
    expect(error).toMatchObject({ reason: 'Expired' });
  });

  it('field selectors select by name and phase, and a field that the kind lacks is a bad request', async () => {
    store.create('Pod', 'default', { metadata: { name: 'p' }, spec: { containers: [] } });
    const names = async (fieldSelector: string) => {
      const answer = await transport.request('GET', '/api/v1/pods', { query: { fieldSelector } });
      return answer.status === 200
        ? (JSON.parse(answer.body.toString()).items as { metadata: Meta }[]).map((o) => o.metadata.name)
        : answer.status;
    };
    expect(await names('status.phase!=Succeeded,status.phase!=Failed')).toEqual(['p']);
    expect(await names('status.phase!=Pending')).toEqual([]);
    expect(await names('metadata.name=p')).toEqual(['p']);
    expect(await names('spec.colour=red')).toBe(400);
  });
});
