import { expect, it } from 'vitest';
import { metaKey, workKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

it('a service that was retried often before waits for the first lists as long as any other: 1 s, doubled with each round', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  await pass(8);
  await world.table.update(metaKey(cluster), { set: { firstList_Pod: 0 } });
  await world.table.update(workKey({ cluster, namespace: 'default', kind: 'service', name: 'svc' }), {
    set: { ep_seq: 9, sl_seq: 9 },
  });
  await addWork({ table: world.table, now: () => world.now }, world.queues.syncs, cluster, [
    wakeNow('default', 'svc'),
  ]);
  const waits = new Map<number, number>();
  for (let seconds = 0; seconds < 20; seconds++) {
    await pass(1);
    const work = await readWork(world.table, { cluster, namespace: 'default', kind: 'service', name: 'svc' });
    const { retryNumber, retryDueMs } = partState(work, 'endpoints');
    if (retryNumber > 9) waits.set(retryNumber, retryDueMs);
  }
  const due = [...waits.values()];
  expect(due.slice(1).map((at, i) => Math.round((at - (due[i] as number)) / 1000))).toEqual([2, 4, 8, 16]);
});
