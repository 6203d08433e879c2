/**
 * What a list has done is kept as long as the queue keeps its other messages. Otherwise first lists would
 * never be complete that an outage interrupts.
 */
import { expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { kinds } from '#shared/kube/types.ts';
import { ingestHub } from './hub.ts';

it('first lists whose last parts come after an outage of three days are complete then', async () => {
  const hub = await ingestHub({ firstLists: 'missing' });
  const bound = (kind: string, i: number): string => (kind === 'Node' ? `/n${i}` : `ns${i}/a`);
  const partsOf = (kind: (typeof kinds)[number]) => {
    const { isLast: _, ...list } = hub.list(kind, 10);
    return [
      { ...list, to: bound(kind, 1) },
      { ...list, partNumber: 1, isLast: true, from: bound(kind, 1) },
    ];
  };
  const lists = kinds.map(partsOf);
  expect(await hub.ingest(...lists.map(([first]) => first as object))).toEqual([]);
  hub.clock.now += 3 * 24 * 3_600_000;
  // DynamoDB deletes what has expired.
  hub.table.restore(
    hub.table.dump().filter(({ ttl }) => typeof ttl !== 'number' || ttl * 1000 > hub.clock.now),
  );
  expect(await hub.ingest(...lists.map(([, last]) => last as object))).toEqual([]);
  expect(missingFirstLists((await readCluster(hub.table, 'c')) as ClusterRecord)).toEqual([]);
});
