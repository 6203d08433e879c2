import { afterEach, expect, it } from 'vitest';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import { refuseSecondWriter } from '#infra/local/clusters/second-writer.ts';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';

let cluster: Awaited<ReturnType<typeof startEmbeddedCluster>> | undefined;
afterEach(async () => {
  await cluster?.close();
});

it('a cluster whose controllers are off passes, and keeps no canary Service', async () => {
  cluster = await startEmbeddedCluster();
  const api = httpsClusterApi({ server: cluster.url }, { fieldManager: 'test' });
  await refuseSecondWriter({ a: { server: cluster.url } }, async () => {});
  const { items } = await api.list('Service', 'default');
  expect(items.map((s) => s.metadata.name).filter((name) => name.includes('canary'))).toEqual([]);
  api.close();
});

it('a cluster whose controllers write is refused, with the way to compare only', async () => {
  cluster = await startEmbeddedCluster();
  const { url } = cluster;
  const api = httpsClusterApi({ server: url }, { fieldManager: 'kube-controller-manager' });
  // Stands in for kube-controller-manager: Endpoints for each Service without them.
  const writeEndpoints = async (): Promise<void> => {
    const { items } = await api.list('Service', 'default');
    for (const { metadata } of items)
      await api
        .create('Endpoints', { metadata: { namespace: 'default', name: metadata.name } })
        .catch(() => {});
  };
  await expect(refuseSecondWriter({ prod: { server: url } }, writeEndpoints)).rejects.toThrow(
    /^--mode active would be a second writer\. prod: kube-controller-manager made Endpoints for a canary Service.*Start without --mode/,
  );
  api.close();
});
