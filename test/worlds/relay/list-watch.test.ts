/** The real relay lists and watches an API server that pages, fails and goes back. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { retryDelayMs } from '#functions/relay/runtime/relay-errors.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { resources } from '#shared/clusters/api/resources.ts';
import type { Kind } from '#shared/kube/types.ts';
import { kinds } from '#shared/kube/types.ts';
import { type FakeObject, FaultyApi, json, refuse, status } from '#test/support/network/faulty-api.ts';
import { fastClock, relayTime } from './fast-clock.ts';
import { type RelayRun, type RunOptions, runRelay } from './run-relay.ts';

let api: FaultyApi;
let run: RelayRun;

beforeEach(async () => {
  api = await new FaultyApi().start();
});
afterEach(async () => {
  await run.stop().catch(() => {});
  await api.close();
});

const pod = (name: string, app = 'web', more: object = {}): FakeObject => ({
  kind: 'Pod',
  metadata: { namespace: 'default', name, labels: { app }, ...more },
  status: { phase: 'Running', podIP: '10.0.0.1' },
});
const plural = (kind: Kind): string => resources[kind].plural;
const until = (holds: () => unknown) =>
  vi.waitFor(() => expect(holds()).toBeTruthy(), { timeout: 120_000, interval: 5 });
const labelOf = (name: string): unknown => {
  const entry = run.state('Pod').get(`default/${name}`);
  return entry && 'projection' in entry && entry.projection
    ? (JSON.parse(entry.projection) as [string, { app: string }])[1].app
    : undefined;
};

async function start(options: RunOptions = {}): Promise<RelayRun> {
  run = runRelay(api.url, options);
  await until(() => run.relay.isReady && [...api.watches.values()].filter((w) => w.size > 0).length === 5);
  return run;
}

it('lists page by page, and each page is a part that begins where the one before ended', async () => {
  for (let i = 0; i < 12; i++) api.put(pod(`p${String(i).padStart(2, '0')}`));
  await start({ limits: { pageSize: 5 } });
  const parts = run.lists('Pod');
  expect(
    parts.map(({ partNumber, from, to, isLast, entries }) => [partNumber, from, to, isLast, entries.length]),
  ).toEqual([
    [0, '', 'default/p04', undefined, 5],
    [1, 'default/p04', 'default/p09', undefined, 5],
    [2, 'default/p09', '', true, 2],
  ]);
  expect(new Set(parts.map((p) => `${p.listId} ${p.asOf} ${p.session}`)).size).toBe(1);
  expect(
    api.of('list pods').every((r) => !r.query.has('resourceVersion') && r.query.get('limit') === '5'),
  ).toBe(true);
  // A kind without objects has one empty page.
  expect(run.lists('Endpoints')).toMatchObject([
    { partNumber: 0, from: '', to: '', isLast: true, entries: [] },
  ]);
});

it('an empty page in the middle of a list is passed over', async () => {
  api.put(pod('a'));
  api.next('list pods', (response) =>
    json(response, 200, { metadata: { resourceVersion: '101', continue: 'x' }, items: [] }),
  );
  api.next('list pods', (response, request) => {
    expect(request.query.get('continue')).toBe('x');
    json(response, 200, {
      metadata: { resourceVersion: '101', continue: 'y' },
      items: [{ metadata: { name: 'a', namespace: 'n', resourceVersion: '90' } }],
    });
  });
  api.next('list pods', (response) =>
    json(response, 200, { metadata: { resourceVersion: '101' }, items: [] }),
  );
  await start();
  expect(run.lists('Pod').map(({ partNumber, from, to, isLast }) => [partNumber, from, to, isLast])).toEqual([
    [0, '', 'n/a', undefined],
    [1, 'n/a', '', true],
  ]);
});

it('a page that names itself as the next one ends the list, and the next list is whole', async () => {
  api.put(pod('a'));
  api.next(
    'list pods',
    (response) => json(response, 200, { metadata: { resourceVersion: '101', continue: 'x' }, items: [] }),
    2,
  );
  await start();
  expect(api.of('list pods').map((r) => r.query.get('continue'))).toEqual([null, 'x', null]);
  expect(run.lists('Pod').map(({ from, to, isLast, entries }) => [from, to, isLast, entries.length])).toEqual(
    [['', '', true, 1]],
  );
});

it('an object without a name ends its list or watch, and the hub receives the other objects', async () => {
  api.put(pod('a'));
  const nameless = { metadata: { name: 7, namespace: 'n', resourceVersion: '90' } };
  api.next('list pods', (response) =>
    json(response, 200, { metadata: { resourceVersion: '101' }, items: [null, nameless] }),
  );
  await start();
  api.say(
    'Pod',
    `${JSON.stringify({ type: 'ADDED', object: { metadata: { ...nameless.metadata, resourceVersion: '102' } } })}\n`,
  );
  await until(() => api.count('watch pods') === 2);
  api.put(pod('after'));
  await until(() => labelOf('after') === 'web');
  expect([...run.state('Pod').keys()]).toEqual(['default/a', 'default/after']);
});

it('an expired continue token begins a new list with a new id, without the token that the server offers', async () => {
  for (let i = 0; i < 4; i++) api.put(pod(`p${i}`));
  api.next('list pods', (_response, _request, usual) => usual());
  api.next('list pods', (response) =>
    json(response, 410, { ...status(410, 'Expired'), metadata: { continue: 'inconsistent' } }),
  );
  await start({ limits: { pageSize: 2 } });
  expect(api.of('list pods').map((r) => r.query.get('continue'))).toEqual([null, '104:2', null, '104:2']);
  const [given, ...parts] = run.lists('Pod');
  expect(given?.listId).not.toBe(parts[0]?.listId);
  expect(parts.map((p) => [p.partNumber, p.isLast, p.listId === parts[0]?.listId])).toEqual([
    [0, undefined, true],
    [1, true, true],
  ]);
});

describe('a kind with large objects', () => {
  const large = (i: number, bytes: number): FakeObject =>
    pod(`p${String(i).padStart(2, '0')}`, 'web', { annotations: { blob: 'x'.repeat(bytes) } });
  const asked = () =>
    api.of('list pods').map((r) => [r.query.get('limit'), r.query.get('continue')?.split(':')[1]]);
  const entriesOf = (kind: Kind) => run.lists(kind).flatMap((p) => p.entries.map((e) => e.name));

  it('a page that is too large is broken off and asked for again with a quarter of the objects, from where it began', async () => {
    for (let i = 0; i < 20; i++) api.put(large(i, i < 8 ? 10 : 2_000));
    await start({ limits: { pageSize: 8, pageBytes: 8_000, maxPageBytes: 10_000 } });
    expect(asked()).toEqual([
      ['8', undefined],
      ['8', '8'],
      ['2', '8'],
      ...[10, 12, 14, 16, 18].map((from) => ['2', String(from)]),
    ]);
    expect(entriesOf('Pod')).toHaveLength(20);
    // The parts are of one list, though its pages differ in size.
    expect(
      run.lists('Pod').map((p) => [p.partNumber, p.listId === run.lists('Pod')[0]?.listId, p.isLast]),
    ).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => [i, true, i === 6 ? true : undefined]));
    expect(run.meter.value('relay_watch_errors_total', 'Pod')).toBe(0);
  });

  it('after a large page half as many objects are asked for, after small ones again as many as before, in this list and the next', async () => {
    for (let i = 0; i < 22; i++) api.put(large(i, i < 4 ? 2_000 : 10));
    await start({ limits: { pageSize: 4, pageBytes: 5_000, maxPageBytes: 20_000 }, resyncMs: 60_000 });
    expect(
      asked()
        .slice(0, 6)
        .map(([limit]) => limit),
    ).toEqual(['4', '2', '4', '4', '4', '4']);
    // The last page of a list is large now, so that the next list begins with half as many.
    api.put(large(21, 8_000));
    await until(() => asked().some(([limit, from]) => limit === '2' && from === undefined));
  });

  it('a token that expires after the page size has changed begins a new list with the smaller size, and takes no token along', async () => {
    for (let i = 0; i < 8; i++) api.put(large(i, 2_000));
    api.next('list pods', (_response, _request, usual) => usual());
    api.next('list pods', (response) => json(response, 410, status(410, 'Expired')));
    await start({ limits: { pageSize: 4, pageBytes: 5_000, maxPageBytes: 20_000 } });
    expect(asked()).toEqual([
      ['4', undefined],
      ['2', '4'],
      ['2', undefined],
      ['2', '2'],
      ['2', '4'],
      ['2', '6'],
    ]);
    const [given, ...parts] = run.lists('Pod');
    expect(parts.every((p) => p.listId !== given?.listId && p.listId === parts[0]?.listId)).toBe(true);
    expect(parts.flatMap((p) => p.entries)).toHaveLength(8);
  });

  it('an object that is too large for a page by itself is named again and again, and the other kinds go on', async () => {
    api.put(large(0, 30_000));
    api.put({ kind: 'Node', metadata: { name: 'n' } });
    run = runRelay(api.url, { limits: { pageSize: 4, pageBytes: 5_000, maxPageBytes: 20_000 } });
    await until(
      () => run.meter.value('relay_watch_errors_total', 'Pod') > 1 && entriesOf('Node').length === 1,
    );
    expect(
      run.logged.some(
        (l) => l.level === 'warn' && String(l.fields['reason']).includes('more than 20000 bytes'),
      ),
    ).toBe(true);
    expect(run.relay.isReady).toBe(false);
  });
});

it('a list whose keys do not ascend is not believed', async () => {
  const items = ['b', 'a'].map((name) => ({ metadata: { namespace: 'n', name, resourceVersion: '9' } }));
  api.next('list pods', (response) => json(response, 200, { metadata: { resourceVersion: '101' }, items }));
  await start();
  expect(run.lists('Pod')).toMatchObject([{ entries: [] }]);
  expect(run.logged.some((l) => String(l.fields['reason']).includes('not in order'))).toBe(true);
});

it('a list that fails (503, 429, a broken connection, half an answer) is tried again until it is whole', async () => {
  api.put(pod('a'));
  api.next('list pods', refuse(503, 'ServiceUnavailable'));
  api.next('list pods', refuse(429, 'TooManyRequests', 1));
  api.next('list pods', (response) => response.socket?.resetAndDestroy());
  api.next('list pods', (response) => response.end('{"metadata":{"resource'));
  await start();
  expect(labelOf('a')).toBe('web');
  expect(run.lists('Pod')).toHaveLength(1);
  // The reset of a kept connection is the transport's own to repeat.
  expect(run.meter.value('relay_watch_errors_total', 'Pod')).toBeGreaterThanOrEqual(3);
});

it('asks for bookmarks and moves on by them, so that a quiet kind does not expire', async () => {
  await start();
  expect(api.of('watch nodes')[0]?.query.get('allowWatchBookmarks')).toBe('true');
  const timeout = Number(api.of('watch nodes')[0]?.query.get('timeoutSeconds'));
  expect(timeout >= 300 && timeout <= 600).toBe(true);
  api.version = 5000;
  api.bookmark('Node');
  await until(() => run.heartbeats().at(-1)?.readUpTo.Node === '5000');
  api.compacted = 4000;
  api.hangUp('Node');
  await until(() => api.count('watch nodes') === 2);
  expect(api.of('watch nodes')[1]?.query.get('resourceVersion')).toBe('5000');
  expect(api.count('list nodes')).toBe(1);
});

it('an in-stream 410 makes a new list at once, not when the server closes', async () => {
  await start();
  api.version = 200;
  api.say('Pod', `${JSON.stringify({ type: 'ERROR', object: status(410, 'Expired') })}\n`);
  await until(() => api.count('list pods') === 2 && api.count('watch pods') === 2);
  expect(api.of('watch pods')[1]?.query.get('resourceVersion')).toBe('200');
  expect(run.meter.value('relay_relists_total', 'Pod')).toBe(1);
});

it('410 as the answer to a watch causes a new list, which lacks objects that were deleted meanwhile', async () => {
  api.put(pod('a'));
  api.put(pod('b'));
  await start();
  api.next('watch pods', refuse(410, 'Expired'));
  api.next('watch pods', (_response, _request, usual) => usual());
  const { length } = api.requests;
  api.hangUp('Pod', 'reset');
  api.remove(pod('b'));
  await until(
    () =>
      api.requests.slice(length).some((r) => r.verb === 'list' && r.plural === 'pods') &&
      run.lists('Pod').length === 2,
  );
  expect(run.lists('Pod')[1]?.entries.map((e) => e.name)).toEqual(['a']);
});

it('429, 500 and 503 on connect wait for Retry-After and continue from the same version', async () => {
  await start();
  api.next('watch pods', refuse(429, 'TooManyRequests', 30));
  api.next('watch pods', refuse(500, 'InternalError'));
  api.next('watch pods', refuse(503, 'ServiceUnavailable', 30));
  api.hangUp('Pod');
  const version = api.put(pod('late'));
  await until(() => labelOf('late') === 'web');
  expect(api.count('list pods')).toBe(1);
  const [, ...again] = api.of('watch pods');
  expect(again.map((r) => r.query.get('resourceVersion'))).toEqual(
    Array(4).fill(String(Number(version) - 1)),
  );
  // 30 s are 100 ms here, or more on a busy machine.
  expect((again[1]?.at ?? 0) - (again[0]?.at ?? 0)).toBeGreaterThanOrEqual(95);
});

it('an in-stream 429 waits for the time in its Status, and does not list', async () => {
  await start();
  api.say(
    'Pod',
    `${JSON.stringify({ type: 'ERROR', object: status(429, 'TooManyRequests', { retryAfterSeconds: 30 }) })}\n`,
  );
  const before = fastClock.now();
  await until(() => api.count('watch pods') === 2);
  expect(fastClock.now() - before).toBeGreaterThanOrEqual(30_000);
  expect(api.count('list pods')).toBe(1);
});

it('a reset connection loses nothing and sends nothing twice', async () => {
  await start();
  for (let i = 0; i < 20; i++) {
    api.put(pod('flapping', `v${i}`));
    if (i % 5 === 2) api.hangUp('Pod', 'reset');
    await relayTime(600);
  }
  await until(() => labelOf('flapping') === 'v19');
  const versions = run.live('Pod').flatMap((m) => m.entries.map((e) => e.resourceVersion));
  expect(new Set(versions).size).toBe(versions.length);
  expect(api.count('list pods')).toBe(1);
});

it('a connection that is open but silent is given up after 90 s', async () => {
  await start();
  // Any event of the server keeps the watch open.
  const watches = api.count('watch pods');
  for (let i = 0; i < 10; i++) {
    api.say('Pod', '\n');
    await relayTime(15_000);
  }
  expect(api.count('watch pods')).toBe(watches);
  await until(() => api.count('watch pods') > watches);
  expect(run.logged.some((l) => String(l.fields['reason']).includes('silent for 90000 ms'))).toBe(true);
});

it('a watch that the server ends at once is not opened more than once a second', async () => {
  await start();
  api.next('watch nodes', (response) => void response.writeHead(200).end(), 1_000);
  const { length } = api.of('watch nodes');
  const from = fastClock.now();
  api.hangUp('Node');
  await relayTime(60_000);
  const opened = api.count('watch nodes') - length;
  expect(opened).toBeGreaterThan(5);
  expect(opened).toBeLessThanOrEqual((fastClock.now() - from) / 1_000 + 1);
});

it('back-off grows while the server stays away', async () => {
  await start();
  api.next('watch nodes', refuse(500, 'InternalError'), 1_000);
  api.hangUp('Node');
  await relayTime(90_000);
  // At 0.8 s without growth there would be more than a hundred.
  expect(api.count('watch nodes')).toBeLessThan(40);
  expect(api.count('list nodes')).toBe(1);
});

describe('the next attempt is a first one if the connection of a watch is cut', () => {
  const attempts = () =>
    run.logged.filter((l) => l.message === 'list or watch failed').map((l) => l.fields['attempt']);
  const line = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '100' } } })}\n`;

  it('after a bookmark', async () => {
    await start();
    api.next(
      'watch nodes',
      (response) => response.writeHead(200).write(line, () => response.socket?.end()),
      3,
    );
    api.hangUp('Node');
    await until(() => attempts().length === 3);
    expect(attempts()).toEqual([0, 0, 0]);
  });

  it('after more than 10 s without an event', async () => {
    await start();
    for (let cuts = 1; cuts <= 3; cuts++) {
      await until(() => api.watches.get('nodes')?.size === 1);
      await relayTime(12_000);
      api.hangUp('Node', 'reset');
      await until(() => attempts().length === cuts);
    }
    expect(attempts()).toEqual([0, 0, 0]);
  });
});

it.each(['during the first list', 'while it watches', 'between two watches'])(
  'stopped %s, it opens nothing afterwards',
  async (when) => {
    if (when === 'during the first list') {
      api.next('list services', () => {});
      run = runRelay(api.url);
      await until(() => api.count('list services') === 1);
    } else {
      await start();
      if (when === 'between two watches') {
        api.next('watch pods', refuse(429, 'TooManyRequests', 300));
        api.hangUp('Pod');
        await until(() => api.count('watch pods') === 2);
      }
    }
    await run.stop();
    await until(() => [...api.watches.values()].every((w) => w.size === 0));
    // The version that a heartbeat asks for may be on its way.
    const opened = () => api.requests.filter(({ plural }) => plural !== 'version').length;
    const before = opened();
    await relayTime(15_000);
    expect(opened()).toBe(before);
  },
);

it('a line that is not JSON is not swallowed: the watch is resumed before it', async () => {
  await start();
  api.say('Pod', '{"type":"ADDED","obj\n');
  await until(() => api.count('watch pods') === 2);
  api.put(pod('after'));
  await until(() => labelOf('after') === 'web');
  expect(run.logged.some((l) => String(l.fields['reason']).includes('not JSON'))).toBe(true);
});

it('a line that stays unreadable is passed by with a new list', async () => {
  api.put(pod('a'));
  await start();
  api.next('watch pods', (response) => void response.writeHead(200).write('nonsense\n'), 2);
  api.hangUp('Pod');
  await until(() => run.lists('Pod').length === 2);
  api.put(pod('b'));
  await until(() => labelOf('b') === 'web');
});

it('a Service of few characters and many bytes is left out of lists and messages, and counted', async () => {
  const annotations = { 'service.kubernetes.io/topology-mode': '語'.repeat(90_000) };
  const service = (name: string, more: object = {}): FakeObject => ({
    kind: 'Service',
    metadata: { namespace: 'default', name, ...more },
  });
  api.put(service('a'));
  api.put(service('b', { annotations }));
  api.put(service('c'));
  await start();
  expect(
    run
      .lists('Service')
      .map(({ from, to, entries, omitted }) => [from, to, entries.map((e) => e.name), omitted]),
  ).toEqual([['', '', ['a', 'c'], ['default/b']]]);
  api.put(service('b', { annotations, labels: { still: 'too-large' } }));
  api.put(service('d'));
  await until(() => run.state('Service').has('default/d'));
  expect(run.state('Service').has('default/b')).toBe(false);
  expect(run.meter.value('relay_unsendable_total', 'Service')).toBe(2);
  expect(
    run.logged.filter((l) => l.level === 'error').map((l) => [l.fields['kind'], l.fields['key']]),
  ).toContainEqual(['Service', 'default/b']);
});

const tooManyLabels = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, i) => [`label-${i}`, 'x'.repeat(63)]),
);

it.each([
  ['cannot be projected', { ...pod('broken'), spec: { containers: 'none' } }],
  ['is too large', pod('broken', 'web', { labels: tooManyLabels })],
])('an object that %s is counted, and the others go on', async (_, broken) => {
  await start();
  api.put(broken);
  api.put(pod('fine'));
  await until(() => labelOf('fine') === 'web');
  expect(run.meter.value('relay_unsendable_total', 'Pod')).toBe(1);
  api.hangUp('Pod');
  api.compacted = api.version + 1;
  await until(() => run.lists('Pod').length >= 3);
  // It exists, and a part that leaves it out would delete it.
  const parts = run.lists('Pod').filter((p) => p.listId === run.lists('Pod')[1]?.listId);
  expect(
    parts.map(({ from, to, entries, omitted }) => [from, to, entries.map((e) => e.name), omitted]),
  ).toEqual([['', '', ['fine'], ['default/broken']]]);
});

it('reads no further while too many objects wait, and loses none', async () => {
  await start({ limits: { maxWaiting: 10, messageEntries: 5, sendsAtOnce: 1 } });
  run.refuseSends(true);
  for (let i = 0; i < 500; i++) api.put(pod(`p${i}`));
  await until(() => run.meter.value('relay_queue_errors_total') > 0);
  await relayTime(15_000);
  expect(run.meter.value('relay_events_total', 'Pod')).toBeLessThan(30);
  run.refuseSends(false);
  await until(() => run.state('Pod').size === 500);
});

it('the relay resumes at the version read last, and keeps the changes that the queue has not accepted', async () => {
  await start();
  run.refuseSends(true);
  api.put(pod('a'));
  api.put(pod('b'));
  await until(() => run.meter.value('relay_events_total', 'Pod') === 2);
  const last = String(api.version);
  api.hangUp('Pod', 'reset');
  await until(() => api.count('watch pods') === 2);
  expect(api.of('watch pods')[1]?.query.get('resourceVersion')).toBe(last);
  run.refuseSends(false);
  await until(() => run.state('Pod').size === 2);
  expect(run.meter.value('relay_events_total', 'Pod')).toBe(2);
});

it('entries that waited before a gap are not sent as the state after it', async () => {
  await start({ limits: { sendsAtOnce: 1 } });
  run.refuseSends(true);
  api.put(pod('a'));
  await until(() => run.meter.value('relay_queue_errors_total') > 0);
  const b = api.put(pod('b'));
  await until(() => run.meter.value('relay_events_total', 'Pod') === 2);
  api.compacted = 1_000_000;
  api.hangUp('Pod', 'reset');
  api.remove(pod('b'));
  await until(() => api.count('watch pods') === 2);
  api.compacted = 0;
  run.refuseSends(false);
  await until(() => run.lists('Pod').length === 2);
  expect(run.lists('Pod')[1]?.entries.map((e) => e.name)).toEqual(['a']);
  await until(() => run.live('Pod').some((m) => m.entries.some((e) => e.name === 'b')));
  expect(run.live('Pod').find((m) => m.entries.some((e) => e.name === 'b'))?.asOf).toBe(b);
});

it('a queue out of reach while lists are due: sent when it is back', async () => {
  api.put(pod('a'));
  run = runRelay(api.url);
  run.refuseSends(true);
  await until(() => run.meter.value('relay_queue_errors_total') > 5);
  expect(run.relay.isReady).toBe(false);
  expect(run.relay.stuck(600_000)).toEqual([]);
  run.refuseSends(false);
  await until(() => run.relay.isReady);
  expect(run.lists('Pod')).toHaveLength(1);
});

it('401 asks for the token again', async () => {
  const asked: boolean[] = [];
  await start({
    token: async (refresh) => {
      asked.push(refresh);
      return asked.includes(true) ? 'new' : 'old';
    },
  });
  expect(asked).not.toContain(true);
  api.next('watch pods', refuse(401, 'Unauthorized'));
  api.hangUp('Pod');
  await until(() => api.count('watch pods') === 3);
  expect(api.of('watch pods').map((r) => r.authorization)).toEqual([
    'Bearer old',
    'Bearer old',
    'Bearer new',
  ]);
});

it('403 is reported with verb and resource, and tried again after the usual back-off', async () => {
  api.next('list nodes', refuse(403, 'Forbidden'), 2);
  await start();
  expect(
    run.logged
      .filter((l) => l.fields['reason'] === 'not authorised: list nodes')
      .map((l) => l.fields['attempt']),
  ).toEqual([0, 1]);
  expect(retryDelayMs(new ClusterApiError('Forbidden', { status: 403 }), 0, 0.5)).toBe(400);
});

it.each([
  ['get namespaces', 403],
  ['look services', 401],
  ['list endpointslices', 403],
  ['watch nodes', 403],
])('a relay without the right to %s at its start waits for it', async (what, code) => {
  api.next(what, refuse(code, 'Forbidden'), 3);
  run = runRelay(api.url);
  await until(() => api.count(what) > 3);
  await until(() => run.relay.isReady);
});

it('resourceVersions that are no numbers: the cluster is refused', async () => {
  api.next(
    'look services',
    (response) => json(response, 200, { metadata: { resourceVersion: 'v1-abc' }, items: [] }),
    10,
  );
  run = runRelay(api.url);
  await expect(run.ended).rejects.toThrow(/resourceVersion "v1-abc" is not a number/);
});

it('a list older than earlier reads means another cluster: a new session lists every kind again', async () => {
  await start();
  api.version = 50;
  api.compacted = 1_000_000;
  api.hangUp('Pod');
  await until(() => new Set(run.lists('Service').map((p) => p.session)).size === 2);
  api.compacted = 0;
  await until(() => run.relay.isReady);
  const [first, second] = [...new Set(run.lists('Service').map((p) => p.session))];
  expect(first).not.toBe(second);
  for (const kind of ['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice'] as const) {
    await until(() =>
      run.lists(kind).some((p) => p.session === second && p.isLast && p.firstListVersion === '50'),
    );
  }
});

/**
 * The relay's connections break, as they do when an API server is stopped, and it finds the other cluster
 * behind the same address.
 */
const breakAll = (how: 'end' | 'reset'): void => {
  for (const kind of kinds) api.hangUp(kind, how);
};

it.each(['reset', 'end'] as const)(
  'etcd restored from a backup, and the watches (%s) opened again: noticed at once, not when one is silent',
  async (how) => {
    await start();
    for (let i = 0; i < 20; i++) api.put(pod(`p${i}`));
    await until(() => run.state('Pod').size === 20);
    api.restore(105, [pod('p0'), pod('p1')]);
    breakAll(how);
    await until(() => new Set(run.lists('Pod').map((p) => p.session)).size === 2);
    await until(() => run.relay.isReady);
    const { uid, historyRewoundAtMs, entries } = run.lists('Pod').at(-1) ?? expect.fail();
    expect(uid).toBe('cluster-1');
    expect(entries.map((e) => e.name)).toEqual(['p0', 'p1']);
    // The hub may not know how far the history had come, or it may have come as far again.
    expect(historyRewoundAtMs).toBeGreaterThan(0);
    expect(run.logged.some((l) => String(l.fields['reason']).includes('silent'))).toBe(false);
  },
);

it('etcd restored from a backup, to a version that no watch had come to and that the look before a watch had found passed: the next look notices it', async () => {
  api.put(pod('p0'));
  await start({ resyncMs: 60_000 });
  const read = api.version;
  // Other kinds than the relay's were written.
  api.version += 1_000;
  breakAll('reset');
  await until(() => api.count('look pods') === 1 && api.watches.get('pods')?.size === 1);
  api.restore(read, [pod('p0')]);
  breakAll('reset');
  await until(() => new Set(run.lists('Pod').map((p) => p.session)).size === 2 && run.relay.isReady);
  expect(run.lists('Pod').at(-1)?.historyRewoundAtMs).toBeGreaterThan(0);
});

it('etcd restored from a backup between two pages of a list, to a version that no watch had come to: the next list notices it', async () => {
  const pods = Array.from({ length: 6 }, (_, i) => pod(`p${i}`));
  for (const p of pods) api.put(p);
  await start({ limits: { pageSize: 4 }, resyncMs: 60_000 });
  const read = api.version;
  api.next('list pods', (_response, _request, usual) => {
    // Other kinds than the relay's were written.
    api.version += 1_000;
    usual();
  });
  api.next('list pods', (response) => {
    api.restore(read, pods);
    breakAll('reset');
    json(response, 504, {
      kind: 'Status',
      status: 'Failure',
      reason: 'Timeout',
      message: 'Too large resource version',
      code: 504,
    });
  });
  const sessions = () => [...new Set(run.lists('Pod').map((p) => p.session))];
  await until(() => {
    api.say('Pod', '\n');
    return sessions().length === 2 && run.relay.isReady;
  });
  expect(run.lists('Pod').find((p) => p.session === sessions()[1])?.historyRewoundAtMs).toBeGreaterThan(0);
});

it.each([50, 5_000])(
  'another cluster behind the same address, at version %d: a new session with its identity',
  async (version) => {
    api.put(pod('old'));
    await start();
    api.restore(version, [pod('new')]);
    api.uid = 'cluster-2';
    breakAll('reset');
    await until(() =>
      run.lists('Pod').some((p) => p.uid === 'cluster-2' && p.entries.some((e) => e.name === 'new')),
    );
    expect(
      run.lists('Pod').filter((p) => p.uid === 'cluster-1' && p.entries.some((e) => e.name === 'new')),
    ).toEqual([]);
    expect(run.live('Pod')).toEqual([]);
    api.put(pod('newer'));
    await until(() => labelOf('newer') === 'web' && run.live('Pod').every((m) => m.uid === 'cluster-2'));
  },
);

it('the cluster replaced amid the first lists', async () => {
  api.put(pod('old'));
  api.next('list pods', (response) => {
    api.restore(500, [pod('new')]);
    api.uid = 'cluster-2';
    response.socket?.resetAndDestroy();
  });
  api.next('list pods', (response) => response.socket?.resetAndDestroy());
  run = runRelay(api.url);
  await until(() =>
    run.lists('Pod').some((p) => p.uid === 'cluster-2' && p.entries.some((e) => e.name === 'new')),
  );
  expect(run.lists('Pod').filter((p) => p.uid === 'cluster-1')).toEqual([]);
});

it('after a broken connection each watch asks the cluster once who it is, and nothing is listed', async () => {
  await start();
  const [asked, looked] = [api.count('get namespaces'), kinds.map((k) => api.count(`look ${plural(k)}`))];
  breakAll('reset');
  await until(() => kinds.every((k) => api.count(`watch ${plural(k)}`) === 2));
  expect(api.count('get namespaces') - asked).toBe(kinds.length);
  expect(kinds.map((k, i) => api.count(`look ${plural(k)}`) - (looked[i] ?? 0))).toEqual([1, 1, 1, 1, 1]);
  expect(kinds.map((k) => api.count(`list ${plural(k)}`))).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(run.messages.map((m) => m.session)).size).toBe(1);
});

it('a bookmark that goes back is settled by a list: a lagging server is no restored one', async () => {
  await start();
  const [{ session } = { session: '' }] = run.lists('Pod');
  api.bookmark('Pod', 20);
  await until(() => run.lists('Pod').length === 2);
  expect(run.lists('Pod')[1]?.session).toBe(session);
});

it('lists every kind again from time to time, beside its watch', async () => {
  api.put(pod('a'));
  await start({ resyncMs: 60_000 });
  const watches = api.count('watch pods');
  const lists = (kind: 'Pod' | 'Node') => new Set(run.lists(kind).map((p) => p.listId)).size;
  await until(() => {
    api.say('Pod', '\n');
    return lists('Pod') >= 3 && lists('Node') >= 3;
  });
  expect(api.count('watch pods')).toBe(watches);
  api.uid = 'cluster-2';
  await until(() => run.lists('Pod').some((p) => p.uid === 'cluster-2'));
});

it('Endpoints and slices sent as metadata are listed less often than inputs, and those sent whole as often', async () => {
  const counts = async (outputs: 'metadata' | 'full') => {
    await start({ outputs, resyncMs: 60_000, limits: { outputsResyncMs: 6_000_000 } });
    const lists = (kind: Kind) => new Set(run.lists(kind).map((p) => p.listId)).size;
    await until(() => {
      for (const kind of ['Pod', 'Endpoints', 'EndpointSlice'] as const) api.say(kind, '\n');
      return lists('Pod') >= 4 && lists('Service') >= 4;
    });
    return [lists('Endpoints'), lists('EndpointSlice')];
  };
  expect(await counts('metadata')).toEqual([1, 1]);
  await run.stop();
  for (const lists of await counts('full')) expect(lists).toBeGreaterThan(2);
});

it('entries that wait at the stop of the relay are still sent', async () => {
  await start();
  run.refuseSends(true);
  api.put(pod('last'));
  await until(() => run.meter.value('relay_events_total', 'Pod') === 1);
  const stopped = run.stop();
  run.refuseSends(false);
  await stopped;
  expect(labelOf('last')).toBe('web');
});

it('a queue that stays away does not keep the relay from ending', async () => {
  await start({ drainMs: 4_000 });
  run.refuseSends(true);
  api.put(pod('last'));
  await until(() => run.meter.value('relay_queue_errors_total') > 0);
  await run.stop();
  expect(run.logged.at(-1)?.message).toMatch(/relay stopped with unsent objects/);
});
