import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { encodeMessage, UnreadableMessage } from '#shared/queue/codec.ts';
import { readEvents } from '#shared/queue/events.ts';
import type { EventsMessage, InputEntry } from '#shared/queue/messages.ts';
import { checkEntries, parseEventsMessage, readWakeUp } from '#shared/queue/parse.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';

const header = { v: 1, cluster: 'c', session: 's', uid: 'u', firstListVersion: '1' };
const podEntry = {
  namespace: 'ns',
  name: 'p',
  resourceVersion: '5',
  projection: encodeProjection('Pod', pod('p')),
  observedAtMs: 1,
};
const valid = [
  {
    ...header,
    type: 'heartbeat',
    readUpTo: { Pod: '5', Service: '6' },
    sentAtMs: 1,
    kubernetesVersion: 'v1.37.2',
    annotated: { valid: 2, invalid: 0, sliced: 3, stray: 1 },
    removals: { count: 1_000, withinMs: 700 },
  },
  {
    ...header,
    type: 'live',
    kind: 'Pod',
    asOf: '5',
    entries: [podEntry, { namespace: 'ns', name: 'gone', resourceVersion: '4' }],
  },
  {
    ...header,
    type: 'live',
    kind: 'EndpointSlice',
    asOf: '5',
    entries: [
      {
        namespace: 'ns',
        name: 's',
        resourceVersion: '5',
        uid: 'u',
        generation: 1,
        service: 'svc',
        managedBy: 'x',
      },
    ],
  },
  {
    ...header,
    type: 'list',
    kind: 'Service',
    asOf: '5',
    listId: 'l',
    partNumber: 0,
    isLast: true,
    from: '',
    to: '',
    entries: [
      {
        namespace: 'ns',
        name: 'svc',
        resourceVersion: '5',
        projection: encodeProjection('Service', service()),
      },
    ],
  },
] as const;
const wakeUp = {
  v: 1,
  cluster: 'c',
  namespace: 'ns',
  kind: 'service',
  name: 'svc',
  generation: 3,
  retryNumbers: { endpoints: 0, slices: 0 },
  dueMs: 5,
};

/** Parses, or refuses with a reason. Any other error fails the test. */
function read(parse: (body: string) => unknown, body: string): unknown {
  try {
    return parse(body);
  } catch (e) {
    if (!(e instanceof UnreadableMessage)) throw e;
    expect(e.message).not.toBe('');
    return undefined;
  }
}

/** The message with one value somewhere in it exchanged, or taken away. */
const mutated = (message: object) =>
  fc
    .tuple(
      fc.nat(),
      fc.oneof(
        fc.anything(),
        fc.constantFrom(undefined, null, '', 'x'.repeat(300), -1, 1.5, '01', [], {}, '__proto__'),
      ),
    )
    .map(([n, value]) => {
      const copy = structuredClone(message) as Record<string, unknown>;
      const places: [Record<string, unknown>, string][] = [];
      const walk = (object: Record<string, unknown>): void => {
        for (const key of Object.keys(object)) {
          places.push([object, key]);
          if (typeof object[key] === 'object' && object[key] !== null)
            walk(object[key] as Record<string, unknown>);
        }
      };
      walk(copy);
      const [object, key] = places[n % places.length] as [Record<string, unknown>, string];
      if (value === undefined) delete object[key];
      else object[key] = value;
      return copy;
    });

const asBody = (message: unknown): string => {
  try {
    return JSON.stringify(message) ?? 'undefined';
  } catch {
    return 'not to be written as JSON';
  }
};

describe('any input is read or refused with a reason', () => {
  it('text of any kind', () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.base64String().map((s) => `z:${s}`),
    );
    fc.assert(
      fc.property(body, (text) => {
        read(readEvents, text);
        read(readWakeUp, text);
      }),
      { numRuns: 500 },
    );
  });

  it('messages with one changed value', () => {
    fc.assert(
      fc.property(fc.oneof(...[...valid, wakeUp].map(mutated)), (message) => {
        read(readEvents, asBody(message));
        read(readWakeUp, asBody(message));
      }),
      { numRuns: 1000 },
    );
  });

  it('projections of any shape', () => {
    fc.assert(
      fc.property(fc.constantFrom('Pod', 'Service', 'Node'), fc.json(), (kind, projection) => {
        const message = {
          ...header,
          type: 'live',
          kind,
          asOf: '5',
          entries: [{ namespace: 'ns', name: 'x', resourceVersion: '5', projection }],
        };
        read(readEvents, JSON.stringify(message));
      }),
      { numRuns: 500 },
    );
  });
});

it('messages of the relay and the workers pass unchanged, compressed or not', () => {
  for (const message of valid) expect(parseEventsMessage(encodeMessage(message))).toEqual(message);
  const many = {
    ...valid[1],
    entries: Array.from({ length: 200 }, (_, i) => ({ ...podEntry, name: `p${i}` })),
  };
  expect(parseEventsMessage(encodeMessage(many))).toEqual(many);
  const { v: _, ...fields } = wakeUp;
  expect(readWakeUp(encodeMessage({ ...wakeUp, ofNextVersion: 1 }))).toEqual(fields);
});

it('the reason has the error, the given value and the allowed values', () => {
  const reason = (message: object, parse = parseEventsMessage as (body: string) => unknown): string => {
    try {
      const parsed = parse(JSON.stringify(message)) as EventsMessage;
      return (
        ('entries' in parsed && checkEntries(parsed.kind, parsed.entries).refused[0]?.reason) || 'passes'
      );
    } catch (e) {
      return (e as Error).message;
    }
  };
  expect(reason({ ...valid[1], v: 2 })).toBe('v is 2: this version reads 1');
  expect(reason({ ...valid[1], kind: 'Secret' })).toMatch(/^kind is "Secret": Service, Pod, Node/);
  expect(reason({ ...valid[1], asOf: '05' })).toBe(
    'asOf is "05": a resourceVersion of 1 to 39 digits is needed',
  );
  expect(reason({ ...valid[1], cluster: undefined })).toMatch(/^cluster is missing: text/);
  expect(reason({ ...valid[1], entries: [{ ...podEntry, name: 'x'.repeat(254) }] })).toMatch(
    /^name is "xxx.*a DNS subdomain is needed for a Pod$/,
  );
  expect(reason({ ...valid[1], entries: [{ ...podEntry, projection: '{}' }] })).toMatch(
    /^projection is .*the projection of a Pod is needed$/,
  );
  const deep = JSON.parse('['.repeat(30) + ']'.repeat(30)) as object;
  const slice = valid[2].entries[0];
  expect(reason({ ...valid[1], later: deep })).toBe(
    'message is nested too deeply: at most 20 levels are allowed',
  );
  expect(
    reason({
      ...valid[1],
      entries: [{ ...podEntry, projection: JSON.stringify(['u', { a: deep }, [], '', 1, [], 1, 0]) }],
    }),
  ).toMatch(/^projection of Pod "ns\/p" has an invalid value for the number of levels: /);
  expect(reason({ ...valid[1], entries: [{ ...podEntry, observedAtMs: 'x' }] })).toBe(
    'observedAtMs is "x": a time in ms since the epoch is needed',
  );
  expect(reason({ ...valid[2], entries: [{ ...slice, object: 5 }] })).toBe(
    'object is 5: an object is needed',
  );
  expect(reason({ ...wakeUp, requeues: '1' }, readWakeUp)).toBe(
    'requeues is "1": a whole number, 0 or more, is needed',
  );
  expect(reason({ ...wakeUp, notBeforeMs: 'x' }, readWakeUp)).toBe(
    'notBeforeMs is "x": a time in ms since the epoch is needed',
  );
  expect(reason({ ...wakeUp, generation: -1 }, readWakeUp)).toBe(
    'generation is -1: a whole number, 0 or more, or "latest" is needed',
  );
  expect(reason({ ...wakeUp, retryNumbers: { no: 1 } }, readWakeUp)).toMatch(
    /^a key of retryNumbers is "no": endpoints, slices are allowed/,
  );
  const ofController = { ...wakeUp, kind: 'import', retryNumbers: { slices: 1 } };
  expect(reason(ofController, readWakeUp)).toMatch(/^a key of retryNumbers is "slices": import is allowed/);
});

it.each([
  ['a name with a separator of keys', 'ServiceExport', { namespace: 'shop', name: 'web#E#c' }],
  ['a name in capitals', 'Pod', { namespace: 'shop', name: 'Web' }],
  ['a namespace with a slash', 'Pod', { namespace: 'shop/web', name: 'web' }],
  ['a node with a namespace', 'Node', { namespace: 'shop', name: 'n1' }],
  [
    'a port that is too large',
    'Service',
    { namespace: 'shop', name: 'web', projection: '["u",0,{},{},0,{"ports":[{"port":99999999}]}]' },
  ],
  [
    'a port that is text',
    'Service',
    { namespace: 'shop', name: 'web', projection: '["u",0,{},{},0,{"ports":[{"port":"80"}]}]' },
  ],
  [
    'a label with a blank',
    'Pod',
    { namespace: 'shop', name: 'web', projection: '["u",{"a b":"c"},[],"n",1,[],1,0]' },
  ],
  [
    'a label that is a number',
    'Pod',
    { namespace: 'shop', name: 'web', projection: '["u",{"a":1},[],"n",1,[],1,0]' },
  ],
  [
    'the name of a node in Chinese',
    'Pod',
    { namespace: 'shop', name: 'web', projection: '["u",{},[],"漢",1,[],1,0]' },
  ],
  [
    'a hostname with a dot',
    'Pod',
    { namespace: 'shop', name: 'web', projection: '["u",{},[],"n",1,[],1,0,{"h":"a.b"}]' },
  ],
  [
    'a subdomain in capitals',
    'Pod',
    { namespace: 'shop', name: 'web', projection: '["u",{},[],"n",1,[],1,0,{"s":"SUB"}]' },
  ],
  [
    'a lone surrogate',
    'Service',
    { namespace: 'shop', name: 'web', projection: '["u",0,{},{"fleet-endpoints/selector":"\\ud800"},0,{}]' },
  ],
] as const)('an object with %s is refused, and the others of its message are not', (_what, kind, entry) => {
  const good = { namespace: kind === 'Node' ? '' : 'shop', name: 'good', resourceVersion: '4' };
  const message = { ...valid[1], kind, entries: [good, { resourceVersion: '5', ...entry }] };
  const { entries } = parseEventsMessage(JSON.stringify(message)) as EventsMessage & {
    readonly entries: readonly InputEntry[];
  };
  const { accepted, refused } = checkEntries(kind, entries);
  expect(accepted).toEqual([good]);
  expect(refused).toMatchObject([
    { namespace: entry.namespace, name: entry.name, entry: { resourceVersion: '5', ...entry } },
  ]);
  expect(refused[0]?.reason).not.toBe('');
});

it.each(['web#E#c', 'a/b', 'import:web', 'x'.repeat(300), ''])('a wake-up for "%s" is refused', (name) => {
  expect(() => readWakeUp(encodeMessage({ ...wakeUp, name }))).toThrow(UnreadableMessage);
});

it.each(['web', 'web.v1', 'A_label.value'])('a wake-up for %s passes', (name) => {
  expect(readWakeUp(encodeMessage({ ...wakeUp, name }))).toMatchObject({ name });
});

it.each(['pod', '', undefined, 'Service'])(
  'a wake-up of kind %s is refused with the kinds that there are',
  (kind) => {
    expect(() => readWakeUp(encodeMessage({ ...wakeUp, kind }))).toThrow(
      /^kind is .*: service, export, import are allowed$/,
    );
  },
);

it.each([
  ['Service', 'web', ''],
  ['Service', '', 'shop/'],
  ['Service', 'shop/web#E', ''],
  ['Namespace', '', '/'],
  ['Namespace', 'shop/web', ''],
])('a list of kind %s from "%s" to "%s" is refused', (kind, from, to) => {
  expect(() => parseEventsMessage(encodeMessage({ ...valid[3], kind, from, to, entries: [] }))).toThrow(
    UnreadableMessage,
  );
});

it.each([
  ['Service', 'shop/a', 'shop/web'],
  ['Node', '/node-1', '/node-2'],
])('a list of kind %s from %s to %s passes', (kind, from, to) => {
  expect(parseEventsMessage(encodeMessage({ ...valid[3], kind, from, to, entries: [] }))).toMatchObject({
    from,
    to,
  });
});
