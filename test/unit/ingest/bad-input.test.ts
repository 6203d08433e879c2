/** Ingest quarantines input that no API server stores, and applies the rest of the message. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areLabels, isDnsLabel, isDnsSubdomain, isWellFormed } from '#shared/kube/api-validation.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const names = fc.constantFrom(
  '__proto__',
  'constructor',
  'a/b',
  'a#b',
  '%2F',
  '../..',
  'x'.repeat(100),
  'x'.repeat(254),
  'ünïcode',
  '😀',
  ' ',
);
const labels = fc.dictionary(fc.oneof(names, fc.string()), fc.string(), { maxKeys: 3 });
const ips = fc.array(fc.oneof(fc.string(), fc.constantFrom('1.2.3.4', '999.1.1.1', '::1', '1.2.3.4/8', '')), {
  maxLength: 3,
});

it('names, labels and addresses that no API server would store are quarantined with their message, and the other messages are applied', async () => {
  await fc.assert(
    fc.asyncProperty(names, names, labels, ips, async (ns, name, some, addresses) => {
      const hub = await ingestHub();
      const named = pod(name, { namespace: ns, labels: some as { [k: string]: string }, ips: addresses });
      const hostile = { ...named, metadata: { ...named.metadata, uid: 'u' } };
      const isStorable =
        isDnsLabel(ns) &&
        isDnsSubdomain(name) &&
        areLabels(some) &&
        addresses.every((ip) => isWellFormed(ip) && ip.length <= 64);
      const failed = await hub.ingest(
        hub.live('Service', 4, entry('Service', 4, service())),
        hub.live('Pod', 6, entry('Pod', 6, hostile)),
        hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
      );
      expect(failed).toEqual([]);
      expect(hub.queues.quarantine.waiting()).toHaveLength(isStorable ? 0 : 1);
      expect((await readObject(hub.store, 'Pod', ns, name))?.projection !== undefined).toBe(isStorable);
      expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeDefined();
      expect(hub.woken().map((m) => `${m.namespace}/${m.name}`)).toEqual(['ns/svc']);
    }),
    { numRuns: 100 },
  );
});

it('no message can make its batch return for ever: it is handled, or quarantined with a reason', async () => {
  const projections = fc.oneof(
    fc.json(),
    fc.constantFrom(
      '["u",null,[],"",1,[],1,0]',
      '["u",{},[[1,2]],"",1,[1],1,0]',
      '["u",5,[],"n",1,["x"],1,"never"]',
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('Pod' as const, 'Service' as const, 'Node' as const),
      projections,
      async (kind, projection) => {
        const hub = await ingestHub();
        await hub.ingest(hub.live('Service', 4, entry('Service', 4, service())));
        hub.woken();
        const message = hub.live(kind, 5, {
          namespace: kind === 'Node' ? '' : 'ns',
          name: 'x',
          resourceVersion: '5',
          projection,
        });
        const failed = await hub.ingest(message, hub.live('Pod', 6, entry('Pod', 6, pod('p'))));
        expect(failed).toEqual([]);
        expect(hub.woken().map((m) => m.name)).toContain('svc');
      },
    ),
    { numRuns: 150 },
  );
});

const bad = (name: string, rv: number) => ({
  namespace: 'ns',
  name,
  resourceVersion: String(rv),
  projection: '["u",{"no label!":""},[],"n",1,["1.2.3.4"],1,0]',
});
const projectionOf = async (hub: IngestHub, name: string) =>
  (await readObject(hub.store, 'Pod', 'ns', name))?.projection;

it('a bad object blocks no other object of its message, is quarantined by itself, and can be applied again', async () => {
  const hub = await ingestHub();
  await hub.ingest(hub.live('Pod', 5, entry('Pod', 5, pod('bad')), entry('Pod', 5, pod('gone'))));
  const before = await projectionOf(hub, 'bad');
  await hub.ingest(
    hub.live('Pod', 7, bad('bad', 7), entry('Pod', 7, pod('good')), entry('Pod', 7, undefined, 'gone')),
  );
  expect(await projectionOf(hub, 'bad')).toBe(before);
  expect(await projectionOf(hub, 'good')).toBeDefined();
  expect(await projectionOf(hub, 'gone')).toBeUndefined();
  const [copy, ...more] = hub.queues.quarantine
    .waiting()
    .map(({ body }) => decodeMessage(body) as { readonly reason: string; readonly body: string });
  expect(more).toEqual([]);
  expect(copy?.reason).toMatch(
    /^1 of 3 entries are refused; the first here: projection of Pod "ns\/bad" has an invalid value for labels/,
  );
  expect(hub.metrics.get('Quarantined')).toBe(1);
  // As by redrive, from a hub that takes the object by then.
  const mended = JSON.stringify(decodeMessage(copy?.body ?? '')).replace('no label!', 'label');
  expect(await hub.ingest(mended)).toEqual([]);
  expect(await projectionOf(hub, 'bad')).toContain('label');
  expect(await projectionOf(hub, 'good')).toBeDefined();
});

it('a list with a refused object deletes unlisted objects, and leaves the refused one unchanged', async () => {
  const hub = await ingestHub();
  await hub.ingest(
    hub.live(
      'Pod',
      5,
      entry('Pod', 5, pod('bad')),
      entry('Pod', 5, pod('gone')),
      entry('Pod', 5, pod('good')),
    ),
  );
  const before = await projectionOf(hub, 'bad');
  await hub.ingest(hub.list('Pod', 9, bad('bad', 7), entry('Pod', 5, pod('good'))));
  expect([await projectionOf(hub, 'bad'), await projectionOf(hub, 'gone')]).toEqual([before, undefined]);
  expect(hub.queues.quarantine.waiting()).toHaveLength(1);
});

it('a list deletes the objects that it lacks beside one that it names without an entry, and leaves that one as it was', async () => {
  const hub = await ingestHub();
  await hub.ingest(
    hub.live(
      'Pod',
      5,
      entry('Pod', 5, pod('large')),
      entry('Pod', 5, pod('gone')),
      entry('Pod', 5, pod('good')),
    ),
  );
  const before = await projectionOf(hub, 'large');
  const list = hub.list('Pod', 9, entry('Pod', 5, pod('good')));
  await hub.ingest({ ...list, omitted: ['ns/large'] });
  expect([await projectionOf(hub, 'large'), await projectionOf(hub, 'gone')]).toEqual([before, undefined]);
  await hub.ingest({ ...list, omitted: ['no key'] });
  expect(hub.queues.quarantine.waiting()).toHaveLength(1);
});
