import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { entry, ingestHub } from '#test/unit/ingest/hub.ts';

it.each([undefined, { namespaces: ['elsewhere'] } as const])(
  'an export that is written after the switch that allows it wakes, although its batch began before the switch (%o)',
  async (before) => {
    const hub = await ingestHub();
    if (before) await saveMembership(hub.table, 'c', { ...noMembership, exports: before });
    const serviceExport = { metadata: { name: 'a', namespace: 'default', uid: 'e' } };
    let isSwitched = false;
    const table = {
      ...hub.table,
      async put(...args: Parameters<typeof hub.table.put>) {
        if (args[0].pk === 'c#EXPORT' && !isSwitched) {
          isSwitched = true;
          await saveMembership(hub.table, 'c', { ...noMembership, exports: { namespaces: 'all' } });
        }
        return hub.table.put(...args);
      },
    };
    const message = hub.live('ServiceExport', 20, entry('ServiceExport', 20, serviceExport as never));
    await ingestBatch({ ...hub.deps, table }, 'c', [
      { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(message) },
    ]);
    expect(isSwitched).toBe(true);
    expect(hub.woken().map((m) => `${m.kind} ${m.name}`)).toEqual(['export a']);
  },
);
