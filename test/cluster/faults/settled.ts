/** Is nothing left to do, and is everything as it must be? */
import { setTimeout as sleep } from 'node:timers/promises';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { Store } from '#infra/local/apiserver/store.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { defaultSettings } from '#shared/contract/cluster-settings.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import type { Api } from '#test/e2e/api.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';
import type { Scene } from './scene.ts';

/**
 * Asks until everything holds; what does not hold in the end, as lines. A lease and a message's visibility
 * take 40 s each.
 */
export async function unsettled(scene: Scene, withinMs: number): Promise<readonly string[]> {
  for (const limit = Date.now() + withinMs; ; ) {
    const complaints = [...(await pending(scene)), ...(await wrong(scene.api))];
    if (complaints.length === 0 || Date.now() > limit) return complaints;
    await sleep(500);
  }
}

async function pending({ hub, cluster }: Scene): Promise<readonly string[]> {
  const meta = await readCluster(hub.table, cluster);
  if (!meta?.queues) return ['the cluster is not known'];
  const { events, syncs, parked, quarantine } = meta.queues;
  const urls = [events, syncs, `${events}-dead`, `${syncs}-dead`, parked, quarantine];
  const depths = await Promise.all(
    urls.map(async (url) => {
      const { Attributes = {} } = await hub.sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
      );
      const [visible, inFlight] = (['', 'NotVisible'] as const).map((s) =>
        Number(Attributes[`ApproximateNumberOfMessages${s}`]),
      );
      return { name: url.slice(url.lastIndexOf('/') + 1), visible, inFlight };
    }),
  );
  const dirty = await hub.table.queryDirty(cluster, Number.MAX_SAFE_INTEGER, 100);
  return [
    ...depths
      // Delayed messages do not count: pending work is in the dirty index, and a message for the end of a
      // lease does nothing.
      .filter((d) => d.visible || d.inFlight)
      .map((d) => `in queue ${d.name}: ${d.visible} + ${d.inFlight} in flight`),
    ...dirty.map(({ pk }) => `still to be done: ${pk}`),
    ...(blockedBy(meta) ? [`circuit open: ${blockedBy(meta)}`] : []),
  ];
}

/** Where the cluster differs from what both controllers make of it as it is now. */
async function wrong(api: Api): Promise<readonly string[]> {
  const store = new Store({ now: Date.now, uid: () => '', suffix: () => '' });
  for (const kind of kinds) {
    const { items } = await api.list(kind, '');
    store.load(items.map((o) => ({ ...o, kind, apiVersion: apiVersion(kind) })));
  }
  return differences(store, defaultSettings.maxEndpointsPerSlice).map(({ text }) => text.slice(0, 2_000));
}

const apiVersion = (kind: Kind): string => (kind === 'EndpointSlice' ? 'discovery.k8s.io/v1' : 'v1');
