import { expect } from 'vitest';
import { httpPort, type Scenario, type World } from '../world.ts';

const labels = { app: 'web' };
const versions = (w: World): readonly (string | undefined)[] =>
  [w.endpoints('web'), ...w.slices('web')].map((o) => o?.metadata.resourceVersion);

async function filled(w: World): Promise<readonly (string | undefined)[]> {
  await w.service('web', { selector: labels, ports: [httpPort] });
  await w.pods('pod', 3, { labels });
  await w.eventually(() => {
    expect(w.endpoints('web')?.subsets?.[0]?.addresses).toHaveLength(3);
    expect(w.slices('web')[0]?.endpoints).toHaveLength(3);
  });
  await w.settled();
  return versions(w);
}

export function quiet(scenario: Scenario): void {
  scenario('TestEndpointUpdates: an annotation on a service writes nothing', async (w) => {
    const before = await filled(w);
    for (const note of ['one', 'two', 'three'])
      await w.api.patch('Service', w.namespace, 'web', { metadata: { annotations: { note } } });
    await w.settled();
    expect(versions(w)).toEqual(before);
  });

  scenario('a change of a pod that concerns no endpoint writes nothing', async (w) => {
    const before = await filled(w);
    await w.api.patch('Pod', w.namespace, 'pod-0', {
      metadata: { annotations: { note: 'x' }, labels: { unrelated: 'x' } },
    });
    // The time of readiness alone is no change of readiness.
    await w.podStatus('pod-1', { since: '2031-01-01T00:00:00Z' });
    await w.pod('stranger', { labels: { app: 'other' } });
    await w.removePod('stranger');
    await w.settled();
    expect(versions(w)).toEqual(before);
  });

  scenario(
    'a service written again as it is, or with another session affinity, writes nothing',
    async (w) => {
      const before = await filled(w);
      await w.api.patch('Service', w.namespace, 'web', { spec: { sessionAffinity: 'ClientIP' } });
      await w.api.patch('Service', w.namespace, 'web', { spec: { sessionAffinity: 'ClientIP' } });
      await w.settled();
      expect(versions(w)).toEqual(before);
    },
  );
}
