import fc from 'fast-check';
import { expect, it } from 'vitest';
import { areLabels, isDnsLabel, isDnsSubdomain, isWellFormed } from '#shared/kube/api-validation.ts';
import { readObject } from '#shared/store/objects.ts';
import { pod, service } from '../kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

const names = fc.constantFrom('__proto__', 'constructor', 'a/b', 'a#b', '%2F', '../..', 'x'.repeat(100), 'x'.repeat(254), 'ünïcode', '😀', ' ');
const labels = fc.dictionary(fc.oneof(names, fc.string()), fc.string(), { maxKeys: 3 });
const ips = fc.array(fc.oneof(fc.string(), fc.constantFrom('1.2.3.4', '999.1.1.1', '::1', '1.2.3.4/8', '')), { maxLength: 3 });

it('names, labels and addresses that no API server would store are set aside with their message, and the other messages are applied', async () => {
  await fc.assert(
    fc.asyncProperty(names, names, labels, ips, async (ns, name, some, addresses) => {
      const hub = await ingestHub();
      const hostile = pod(name, { namespace: ns, labels: some as { [k: string]: string }, ips: addresses });
      const isStorable = isDnsLabel(ns) && isDnsSubdomain(name) && areLabels(some) && addresses.every((ip) => isWellFormed(ip) && ip.length <= 64);
      const failed = await hub.ingest(
        hub.live('Service', 4, entry('Service', 4, service())),
        hub.live('Pod', 6, entry('Pod', 6, hostile)),
        hub.live('Pod', 6, entry('Pod', 6, pod('p'))),
      );
      expect(failed).toEqual([]);
      expect(hub.queues.quarantine.waiting()).toHaveLength(isStorable ? 0 : 1);
      expect((await readObject(hub.store, 'Pod', ns, name))?.projection !== undefined).toBe(isStorable);
      expect((await readObject(hub.store, 'Pod', 'ns', 'p'))?.projection).toBeDefined();
      expect(hub.woken().map((m) => `${m.ns}/${m.service}`)).toEqual(['ns/svc']);
    }),
    { numRuns: 100 },
  );
});

it('no message can make its batch come back for ever: it is handled, or put aside with a reason', async () => {
  const projections = fc.oneof(
    fc.json(),
    fc.constantFrom('["u",null,[],"",1,[],1,0]', '["u",{},[[1,2]],"",1,[1],1,0]', '["u",5,[],"n",1,["x"],1,"never"]'),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('Pod' as const, 'Service' as const, 'Node' as const), projections, async (kind, o) => {
      const hub = await ingestHub();
      await hub.ingest(hub.live('Service', 4, entry('Service', 4, service())));
      hub.woken();
      const message = hub.live(kind, 5, { ns: kind === 'Node' ? '' : 'ns', name: 'x', rv: '5', o });
      const failed = await hub.ingest(message, hub.live('Pod', 6, entry('Pod', 6, pod('p'))));
      expect(failed).toEqual([]);
      expect(hub.woken().map((m) => m.service)).toContain('svc');
    }),
    { numRuns: 150 },
  );
});
