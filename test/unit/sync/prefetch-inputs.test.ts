/** Prefetched inputs count only in the scope of their first lists (inputs.ts). */

import { expect, it } from 'vitest';
import { prefetchInputs, readInputs, readServiceItems } from '#functions/sync/state/inputs.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { noDeltas } from '#shared/store/outputs/deltas.ts';
import { readTriggers } from '#shared/store/triggers.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';

const key = { cluster: 'c', namespace: 'ns', name: 'svc' };

it('inputs that were read beside the cluster’s record count only in the scope in which the worker found the first lists complete', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 1_000);
  const put = (kind: InputKind, name: string, projection: string): Promise<boolean> => {
    const record = {
      namespace: 'ns',
      name,
      version: versionOf(1, '5'),
      projection,
      unnotifiedLabels: undefined,
      deletedAtMs: 0,
    };
    return putObject({ table, cluster: 'c' }, kind, record, undefined);
  };
  const selected = service();
  await put('Service', 'svc', encodeProjection('Service', selected));
  const deps = syncDeps({ table, now: () => 2_000 });
  const meta = (await readCluster(table, 'c')) as ClusterRecord;

  expect(await prefetchInputs(deps, key)).toBeUndefined();
  const prefetched = await prefetchInputs(
    {
      ...deps,
      nodes: new Map([
        [
          'c',
          {
            scope: meta.cacheScope,
            version: 0,
            read: Promise.resolve({ nodes: new Map(), isCut: false }),
            count: 0,
          },
        ],
      ]),
    },
    key,
  );
  // The first lists write these during the read of the cluster's record.
  await put(
    'Pod',
    'p',
    encodeProjection('Pod', {
      ...pod('p'),
      metadata: { ...pod('p').metadata, labels: { ...(selected.spec?.selector as Labels) } },
    }),
  );
  const items = await readServiceItems(deps, key);
  const podsIn = async (cluster: ClusterRecord): Promise<readonly string[]> => {
    const { pods } = await readInputs(
      { ...deps, pods: new NamespacePods() },
      {
        cluster,
        key,
        triggers: readTriggers(table, key, undefined),
        items,
        deltas: noDeltas,
        source: 'written',
        prefetched,
      },
    );
    return pods.map((p) => p.metadata.name);
  };
  expect(await podsIn(meta)).toEqual([]);
  expect(await podsIn({ ...meta, cacheScope: 'of another incarnation' })).toEqual(['p']);
});
