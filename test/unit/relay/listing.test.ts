import { expect, it } from 'vitest';
import { Published } from '#functions/relay/election/published.ts';
import { Outbox } from '#functions/relay/outbox/outbox.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { Attempts } from '#functions/relay/reflector/attempts.ts';
import { Listing } from '#functions/relay/reflector/listing.ts';
import { systemClock as clock } from '#functions/relay/runtime/clock.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { Mutex } from '#functions/relay/runtime/mutex.ts';
import type { Log } from '#shared/telemetry/port.ts';

const log: Log = { info() {}, warn() {}, error() {}, with: () => log };

it('a term that ends while a list asks for the identity leaves no list that is never sent', async () => {
  const meter = new Meter();
  const header = (session: string) => ({ v: 1 as const, cluster: 'c', session, uid: 'u', base: '1' });
  const outbox = new Outbox({ queue: { send: async () => {} }, clock, log, meter }, undefined);
  outbox.lead(header('s1'));
  outbox.markRead('Pod', '10');
  const deps = {
    outbox,
    clock,
    log,
    meter,
    source: { list: async () => ({ resourceVersion: '11', items: [] }) },
    sentIndex: new SentIndex({ clock, log, meter, outputs: 'metadata' } as never),
    newId: () => 'l',
    identityCheck: { checkUid: async () => outbox.standBy() },
    listMutex: new Mutex(),
    published: new Published(),
  } as never;
  const options = { base: '1', resyncMs: 1_800_000, pageSize: 10, failFast: false } as never;
  await new Listing('Pod', deps, options, new Attempts('Pod', deps, { failFast: false })).list('repair', new AbortController().signal);
  outbox.lead(header('s2'));
  expect(outbox.queueOf('Pod').publishable(true)).toBe('10');
});
