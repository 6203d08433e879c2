/** The real relay brings the hub to the cluster's state after random faults. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Relay } from '#functions/relay/relay.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { Store } from '#infra/local/apiserver/store.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { memoryWatchSource } from '#test/support/memory/watch-source-memory.ts';
import { HubModel } from './hub-model.ts';
import { manualClock } from './manual-clock.ts';

const quiet: Log = { info() {}, warn() {}, error() {}, with: () => quiet };

const has = (store: Store, kind: 'Pod' | 'EndpointSlice', name: string) =>
  store.find(kind, 'default', name) !== undefined;

function putPod(store: Store, name: string, app: string): void {
  const labels = { app };
  if (has(store, 'Pod', name)) store.patch('Pod', { namespace: 'default', name }, { metadata: { labels } });
  else
    store.create('Pod', 'default', {
      metadata: { name, namespace: 'default', labels },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
}

/** There or not, in turn. */
function turnSlice(store: Store, name: string, app: string): void {
  if (has(store, 'EndpointSlice', name)) store.remove('EndpointSlice', 'default', name);
  else
    store.create('EndpointSlice', 'default', {
      metadata: { name, namespace: 'default', labels: { [labelServiceName]: app } },
      addressType: 'IPv4',
      endpoints: [],
    });
}

/** Park and Miller's generator: the same seed, the same run. */
const chances = (seed: number) => (): number => {
  seed = (seed * 48271) % 0x7fffffff;
  return seed / 0x7fffffff;
};

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('pod' as const), n: fc.nat(5), app: fc.constantFrom('a', 'b') }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('drop' as const), n: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('slice' as const), n: fc.nat(2), app: fc.constantFrom('a', 'b') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 20, 300, 2_000, 20_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('gap' as const), n: fc.nat(5) }) },
  fc.record({
    do: fc.constantFrom<'break' | 'mend' | 'compact' | 'refuse' | 'accept' | 'restart'>(
      'break',
      'mend',
      'compact',
      'refuse',
      'accept',
      'restart',
    ),
  }),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Faulty {
  readonly store: Store;
  readonly source: ReturnType<typeof memoryWatchSource>;
  readonly clock: ReturnType<typeof manualClock>;
  readonly refuse: (isRefusing: boolean) => void;
  readonly restart: () => void;
}

async function carryOut(s: Step, { store, source, clock, refuse, restart }: Faulty): Promise<void> {
  switch (s.do) {
    case 'pod':
      return putPod(store, `p${s.n}`, s.app);
    case 'drop':
      return void store.remove('Pod', 'default', `p${s.n}`);
    case 'slice':
      return turnSlice(store, `s${s.n}`, s.app);
    case 'wait':
      return clock.advance(s.ms);
    case 'gap':
      // No watch reports objects that are deleted meanwhile.
      source.breakOff();
      store.remove('Pod', 'default', `p${s.n}`);
      store.compact();
      return source.mend();
    case 'break':
      return source.breakOff();
    case 'mend':
      return source.mend();
    case 'compact':
      return store.compact();
    case 'refuse':
    case 'accept':
      return refuse(s.do === 'refuse');
    case 'restart':
      return restart();
  }
}

it('the hub ends with the state of the cluster after any faults and any order of messages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.integer({ min: 1, max: 0x7fffffff }),
      async (steps, seed) => {
        const random = chances(seed);
        const clock = manualClock(random);
        let ids = 0;
        const store = new Store({ now: clock.now, uid: () => `uid-${++ids}`, suffix: () => 'x' });
        const source = memoryWatchSource(store, { clock });
        const messages: EventsMessage[] = [];
        let refusing = false;
        const queue = {
          async send(outgoing: readonly { readonly body: string }[]) {
            await new Promise<void>((resolve) => clock.after(1 + random() * 200, resolve));
            // By the port's contract some messages were accepted.
            const accepted = refusing ? outgoing.slice(1) : outgoing;
            messages.push(...accepted.map((m) => parseEventsMessage(m.body)));
            if (refusing) throw new Error('out of reach');
          },
        };
        const start = () => {
          const stop = new AbortController();
          const limits = {
            ...defaultLimits,
            relay: { ...defaultLimits.relay, pageSize: 2, maxWaiting: 4, sendsAtOnce: 1 },
          };
          const deps = {
            source,
            queue,
            clock,
            log: quiet,
            meter: new Meter(),
            newId: () => `id-${++ids}`,
            limits,
          };
          const relay = new Relay(deps, {
            cluster: 'c',
            outputs: 'metadata',
            resyncMs: random() < 0.5 ? 30_000 : 86_400_000,
          });
          const ended = relay.run(stop.signal).catch((e: unknown) => e);
          return { relay, ended, stop };
        };
        let run = start();

        const refuse = (isRefusing: boolean): void => {
          refusing = isRefusing;
        };
        const restart = (): void => {
          // Killed: what waited in it is gone.
          run.stop.abort(new Error('killed'));
          run = start();
        };
        for (const s of steps) await carryOut(s, { store, source, clock, refuse, restart });
        source.mend();
        refusing = false;
        await clock.advance(100_000);
        expect(run.relay.isReady).toBe(true);

        const hub = new HubModel();
        const shuffled = messages.map((m) => [random(), m] as const).sort(([a], [b]) => a - b);
        for (const [, message] of shuffled) hub.take(message);
        const pods = store.list('Pod').map((p) => [`default/${p.metadata.name}`, encodeProjection('Pod', p)]);
        expect(
          [...hub.alive('Pod')].map(([key, e]) => [key, 'projection' in e ? e.projection : '']).sort(),
        ).toEqual(pods.sort());
        expect([...hub.alive('EndpointSlice').keys()].sort()).toEqual(
          store
            .list('EndpointSlice')
            .map((o) => `default/${o.metadata.name}`)
            .sort(),
        );
        run.stop.abort(new Error('over'));
        await clock.advance(10_000);
        expect(await run.ended).toBeUndefined();
      },
    ),
    { numRuns: 200 },
  );
});
