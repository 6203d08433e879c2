import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Api } from '#test/e2e/api.ts';
import { differingPlaces } from '#test/worlds/conformance/differing-places.ts';
import { written } from './settling.ts';

/** Changed outputs. An empty list is the expected result. */
export type TakeOver = readonly string[];

/** For so long nothing may move; a sync of everything is over in a fraction of it. */
const watchMs = 15_000;

/** Starts another writer on the existing outputs, and returns its writes. */
export async function takeOver(
  api: Api,
  start: () => Promise<{ readonly pending: (failing: boolean) => Promise<readonly string[]> }>,
): Promise<TakeOver> {
  const before = objects(await written(api));
  const { pending } = await start();
  for (const end = Date.now() + watchMs; Date.now() < end || (await pending(false)).length > 0; )
    await sleep(200);
  const after = objects(await written(api));
  const auto = new Set(
    (await api.list('Service', '')).items
      .filter((s) => s.metadata.annotations?.['service.kubernetes.io/topology-mode'] === 'Auto')
      .map((s) => `EndpointSlice ${s.metadata.namespace}/${s.metadata.name}`),
  );
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((uid) => {
    const [was, is] = [before.get(uid), after.get(uid)];
    // At its start upstream may take hints off and put them on again.
    if (
      was?.metadata.resourceVersion === is?.metadata.resourceVersion ||
      auto.has(serviceOf((is ?? was) as Output))
    )
      return [];
    const { namespace, name } = ((is ?? was) as Output).metadata;
    const kind = 'addressType' in ((is ?? was) as Output) ? 'EndpointSlice' : 'Endpoints';
    const what = `${kind} ${namespace}/${name}`;
    if (!was || !is) return [`${what} ${is ? 'made' : 'deleted'}`];
    const places = differingPlaces(plain(was), plain(is)).map(
      ({ at, expected, got }) => `${what} ${at}: was ${expected}, is ${got}`,
    );
    return places.length > 0 ? places : [`${what} written as it was`];
  });
}

type Output = Endpoints | EndpointSlice;
const objects = ({ endpoints, slices }: Awaited<ReturnType<typeof written>>): ReadonlyMap<string, Output> =>
  new Map([...endpoints, ...slices].map((o) => [o.metadata.uid ?? '', o]));
const serviceOf = ({ metadata }: Output): string =>
  `EndpointSlice ${metadata.namespace}/${metadata.labels?.['kubernetes.io/service-name'] ?? ''}`;
const plain = ({
  metadata: { resourceVersion: _, managedFields: __, ...metadata },
  ...rest
}: Output): object => ({ ...rest, metadata });
