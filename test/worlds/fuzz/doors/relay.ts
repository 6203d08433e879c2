/**
 * Frames of watches and pages of lists that a cluster's API sends to the relay, of any shape. The hub can
 * read each message of the relay.
 */
import fc, { type Arbitrary } from 'fast-check';
import { Outbox } from '#functions/relay/outbox/outbox.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { listAll } from '#functions/relay/reflector/lister.ts';
import { PageSize } from '#functions/relay/reflector/page-size.ts';
import { Position } from '#functions/relay/reflector/position.ts';
import { readWatch } from '#functions/relay/reflector/watching.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { ClusterReplaced, WentBack } from '#functions/relay/runtime/relay-errors.ts';
import { UnorderedVersions } from '#functions/relay/source/resource-version.ts';
import { MalformedAnswer } from '#functions/relay/source/watch-source.ts';
import { httpWatchSource } from '#functions/relay/source/watch-source-http.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { HttpTransport } from '#shared/clusters/api/transport.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { manualClock } from '#test/worlds/relay/manual-clock.ts';
import { type Door, ensure } from '../door.ts';
import {
  anyJson,
  deepJson,
  hostileNumber,
  hostileText,
  type Mutation,
  mutated,
  someLabels,
  someMutations,
} from '../hostile.ts';

/** A line of a watch, or a page of a list. */
interface Sent {
  readonly json: object | string;
  readonly changes: readonly Mutation[];
}

interface HostileServer {
  readonly kind: Kind;
  readonly verb: 'watch' | 'list';
  readonly status: number;
  readonly sent: readonly Sent[];
  /** A stream comes in pieces of so many bytes. */
  readonly pieceBytes: number;
  readonly isBroken: boolean;
}

const version = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 11, max: 40 }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom('', '0', 'x', '9'.repeat(40)) },
);
const spec = fc.record(
  {
    selector: fc.oneof(someLabels, anyJson),
    ports: fc.oneof(
      fc.array(fc.record({ name: hostileText, port: hostileNumber, containerPort: hostileNumber })),
      anyJson,
    ),
    containers: fc.oneof(fc.constant([{ name: 'c', ports: [{ name: 'http', containerPort: 80 }] }]), anyJson),
    nodeName: fc.oneof(hostileText, anyJson),
  },
  { requiredKeys: [] },
);
const status = fc.record(
  {
    podIPs: fc.oneof(fc.array(fc.record({ ip: hostileText }), { maxLength: 3 }), anyJson),
    podIP: hostileText,
    conditions: fc.oneof(
      fc.constant([{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]),
      anyJson,
    ),
    phase: fc.oneof(fc.constant('Running'), anyJson),
  },
  { requiredKeys: [] },
);
/** Names and labels are as the API server allows them, versions mostly; the rest need not be. */
const object = fc.record(
  {
    metadata: fc.record(
      {
        name: fc.constantFrom('a', 'b', 'c'),
        namespace: fc.constantFrom('shop', 'shop', 'other'),
        resourceVersion: version,
        uid: fc.constant('u'),
        labels: fc.dictionary(
          fc.constantFrom('app', 'kubernetes.io/service-name', 'constructor'),
          fc.constantFrom('', 'web'),
        ),
        annotations: someLabels,
        managedFields: anyJson,
        generation: fc.nat(5),
      },
      { requiredKeys: ['name', 'namespace', 'resourceVersion'] },
    ),
    spec,
    status,
    subsets: anyJson,
    endpoints: anyJson,
  },
  { requiredKeys: ['metadata'] },
);

const event = fc.record({
  type: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK') },
    { weight: 1, arbitrary: fc.constantFrom('ERROR', '__proto__') },
  ),
  object,
});
const token = fc.constantFrom<unknown>('', 'next', 'next', 7, null);
const page = fc.record({
  metadata: fc.record({ resourceVersion: fc.constantFrom('50', '50', '51', 'x'), continue: token }),
  items: fc.array(object, { maxLength: 3 }),
});
const sentOf = (of: Arbitrary<object>): Arbitrary<Sent> =>
  fc.record({
    json: fc.oneof<[fc.WeightedArbitrary<object | string>, fc.WeightedArbitrary<object | string>]>(
      { weight: 9, arbitrary: of },
      { weight: 1, arbitrary: fc.constantFrom('', 'null', '[]', deepJson, '{"type":') },
    ),
    changes: someMutations,
  });

const values: Arbitrary<HostileServer> = fc.constantFrom<'watch' | 'list'>('watch', 'list').chain((verb) =>
  fc.record({
    kind: fc.constantFrom(...allKinds),
    verb: fc.constant(verb),
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(204, 301, 401, 410, 500) },
    ),
    sent: fc.array(sentOf(verb === 'watch' ? event : page), { minLength: 1, maxLength: 6 }),
    pieceBytes: fc.constantFrom(1 << 20, 64, 7),
    isBroken: fc.boolean(),
  }),
);

function textOf({ json, changes }: Sent, kind: Kind): string {
  const text = typeof json === 'string' ? json : (JSON.stringify(mutated(json, changes)) ?? 'null');
  return kind === 'Node' || kind === 'Namespace' ? text.replaceAll(/"namespace":"\w+",/g, '') : text;
}

/** The last page is given again and again. */
function transportOf(
  { kind, status: code, sent, pieceBytes, isBroken }: HostileServer,
  asked: () => void,
): HttpTransport {
  const pages = sent.map((one) => textOf(one, kind));
  const whole = Buffer.from(pages.map((line) => `${line}\n`).join(''));
  let next = 0;
  return {
    async request() {
      asked();
      return {
        status: code,
        headers: {},
        body: Buffer.from(pages[Math.min(next++, pages.length - 1)] as string),
      };
    },
    async stream() {
      const chunks = (async function* () {
        for (let at = 0; at < Math.min(whole.length, 200_000); at += pieceBytes)
          yield whole.subarray(at, at + pieceBytes);
        if (isBroken) throw new ClusterApiError('the connection broke', { status: 0 });
      })();
      return { status: code, headers: {}, chunks, destroy() {} };
    },
    close() {},
  };
}

const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };
const header = { v: messageVersion, cluster: 'a', session: 's', uid: 'u', firstListVersion: '10' };
const maxRequests = 50;
const reasons = [ClusterApiError, MalformedAnswer, WentBack, ClusterReplaced, UnorderedVersions];

export const relay: Door<HostileServer> = {
  name: 'relay',
  cases: 100,
  values,
  async check(server) {
    const bodies: string[] = [];
    const clock = manualClock();
    const queue = {
      send: async (messages: readonly { readonly body: string }[]) =>
        void bodies.push(...messages.map(({ body }) => body)),
    };
    const meter = new Meter();
    const position = new Position(server.kind, new Map());
    const outbox = new Outbox(
      { queue, clock, log: silent, meter, limits: defaultLimits },
      header,
      () => position.readUpTo,
    );
    const sentIndex = new SentIndex({ clock, log: silent, meter, outputs: 'full', limits: defaultLimits });
    let requests = 0;
    const stop = new AbortController();
    const transport = transportOf(server, () => {
      if (++requests > maxRequests) stop.abort(new Error('too many requests'));
      stop.signal.throwIfAborted();
    });
    const source = httpWatchSource(transport, clock, { maxLineLength: 100_000 });
    const { kind, verb } = server;
    position.moveTo('10');
    const send = async (parts: readonly string[]): Promise<void> => void bodies.push(...parts);
    const request = {
      kind,
      header,
      pageSize: new PageSize(defaultLimits.relay),
      floor: '10',
      at: undefined,
      beside: false,
      onVersion() {},
    };
    const reading =
      verb === 'watch'
        ? readWatch(
            { source, outbox, sentIndex, clock, meter },
            { kind, position, onActivity() {} },
            stop.signal,
          ).then(({ error }) => {
            if (error) throw error;
          })
        : listAll(
            { source, sentIndex, meter, log: silent, newId: () => 'l', limits: defaultLimits },
            request,
            send,
            stop.signal,
          );
    const error: unknown = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    ensure(
      error === undefined || reasons.some((reason) => error instanceof reason),
      `the ${verb} rejects with ${error instanceof Error ? error.stack : String(error)}`,
    );
    await clock.advance(60_000);
    outbox.close();
    // The hub may refuse objects of another shape than an API server's.
    if (server.sent.every(({ changes }) => changes.length === 0)) bodies.forEach(ensureReadable);
  },
};

/** The hub refuses a projection that no API server would have stored, and nothing else of a message. */
function ensureReadable(body: string): void {
  try {
    parseEventsMessage(body);
  } catch (error) {
    ensure(
      error instanceof UnreadableMessage && error.message.startsWith('o of '),
      `a message of the relay is refused: ${String(error)}`,
    );
  }
}
