/** The slices that the hub made for a Service by opt-in, as sync has saved them. */
import { concurrently } from '#shared/concurrently.ts';
import { isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readWrittenOutputs } from '#shared/workqueue/written-outputs.ts';

export const keyOf = (cluster: string, { metadata: { namespace = '', name } }: Service): ServiceKey => ({
  cluster,
  namespace,
  name,
});

export const optInSlices = async (
  table: Table,
  cluster: string,
  service: Service,
): Promise<readonly EndpointSlice[]> =>
  (await readWrittenOutputs(table, keyOf(cluster, service))).flatMap(({ kind, object }) =>
    kind === 'EndpointSlice' && object && isOptInSlice(object as EndpointSlice)
      ? [object as EndpointSlice]
      : [],
  );

export const hasOptInSlices = async (table: Table, cluster: string, service: Service): Promise<boolean> =>
  (await optInSlices(table, cluster, service)).length > 0;

export async function servicesWhere(
  services: readonly Service[],
  holds: (service: Service) => Promise<boolean>,
): Promise<readonly Service[]> {
  const is = await concurrently(16, services, holds);
  return services.filter((_, i) => is[i]);
}
