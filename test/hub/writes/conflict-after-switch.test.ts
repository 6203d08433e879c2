/**
 * A conditional write keeps two writers apart only if the loser asks again whether it may write: a run that
 * plans once more by its older snapshot would take away the address that the other writer has just added.
 */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const sliceOf = ({ world }: SmallCluster): RawObject =>
  world.store
    .list('EndpointSlice', 'default')
    .find((s) => (s as { readonly addressType?: string }).addressType === 'IPv4') as RawObject;
const addressesOf = (small: SmallCluster): readonly string[] =>
  ((sliceOf(small) as unknown as EndpointSlice).endpoints ?? []).flatMap(({ addresses }) => addresses).sort();

/** Another writer adds the address of a pod that the hub does not know yet, in the moment of the hub's write. */
async function lateWrite(options: { readonly isSwitched: boolean }) {
  const other = { waits: false };
  const small: SmallCluster = await smallCluster([aService(), ...pods(3)], {
    refuse: async (call) => {
      if (call !== 'replace EndpointSlice' || !other.waits) return;
      other.waits = false;
      if (options.isSwitched) await switchMode(small.world.table, cluster, 'paused', small.world.now);
      const slice = sliceOf(small) as unknown as EndpointSlice;
      const endpoints = [
        ...(slice.endpoints ?? []),
        { addresses: ['10.1.0.9'], conditions: { ready: true } },
      ];
      small.world.store.patch(
        'EndpointSlice',
        { namespace: 'default', name: slice.metadata.name },
        { endpoints },
        {
          manager: 'other',
        },
      );
    },
  });
  await small.pass(8);
  expect(addressesOf(small)).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  other.waits = true;
  const before = small.calls.length;
  small.world.store.delete('Pod', 'default', 'pod-0', {});
  await small.pass(20);
  return { small, writes: small.calls.slice(before).filter(({ call }) => call.endsWith('EndpointSlice')) };
}

it('after a switch, a run whose write met a conflict takes no address of the next writer away', async () => {
  const { small, writes } = await lateWrite({ isSwitched: true });
  expect(addressesOf(small)).toContain('10.1.0.9');
  expect(writes.map(({ call }) => call)).toContain('replace EndpointSlice');
  expect(writes.filter(({ call }) => call === 'replace EndpointSlice')).toHaveLength(1);
});

it('without a switch the run plans once more, and its object is as it has to be', async () => {
  const { small } = await lateWrite({ isSwitched: false });
  // The deleted pod is still terminating.
  expect(addressesOf(small)).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
});
