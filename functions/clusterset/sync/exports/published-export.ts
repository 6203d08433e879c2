/**
 * What the set has of an export after its run: the entry that importers merge, and the Service that selects
 * the pods.
 */

import type { ExportedEndpoints } from '#shared/clusterset/exports/conditions.ts';
import { type InvalidExport, staysInSet } from '#shared/clusterset/exports/export-validity.ts';
import { decodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { type CheckedExport, checkExport } from '#shared/clusterset/exports/exported-service.ts';
import type { ExportedService } from '#shared/clusterset/exports/precedence.ts';
import { type StoredExportedPods, textOf } from '#shared/clusterset/store/exported-pods-record.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import type { Service } from '#shared/kube/types.ts';

export interface PublishedExport {
  readonly text: string;
  /**
   * With the selector of the exported pods; without one there are none. Undefined: the pods that are saved
   * stay.
   */
  readonly service: Service | undefined;
  readonly endpoints: ExportedEndpoints;
}

interface ToPublish {
  readonly cluster: string;
  readonly serviceExport: ServiceExport;
  readonly checked: CheckedExport;
  /** The entry as the set has it. */
  readonly before: string | undefined;
  readonly podsBefore: StoredExportedPods | undefined;
}

/** Returns undefined if the cluster does not export the name. */
export function publishedExport({ checked, before, ...to }: ToPublish): PublishedExport | undefined {
  const { validity, exported } = checked;
  if (validity.valid)
    return {
      text: JSON.stringify(exported),
      service: withOptInSelector(validity.service, 'active'),
      endpoints: 'followed',
    };
  return before !== undefined && staysInSet(validity) ? keptExport({ ...to, validity, before }) : undefined;
}

interface ToKeep extends Pick<ToPublish, 'cluster' | 'serviceExport' | 'podsBefore'> {
  readonly validity: InvalidExport;
  readonly before: string;
}

/**
 * The import keeps its address while the ServiceExport is there, and the endpoints of a selector that cannot
 * be decided follow the last valid one.
 */
function keptExport({ cluster, serviceExport, validity, before, podsBefore }: ToKeep): PublishedExport {
  const { keeps } = validity;
  if (!keeps) {
    const { namespace, name } = serviceExport.metadata;
    const { selector: _, ...spec } = (JSON.parse(before) as ExportedService).spec;
    return { text: before, service: { metadata: { namespace, name }, spec }, endpoints: 'none' };
  }
  const { exported } = checkExport(cluster, serviceExport, { valid: true, service: keeps });
  const text = exported ? JSON.stringify(exported) : before;
  if (keeps.spec?.selector) return { text, service: keeps, endpoints: 'followed' };
  const last = podsBefore && textOf(podsBefore);
  // Pods that are too large, or that a rebuild has forgotten: slices stay in the importers.
  if (last === undefined) return { text, service: undefined, endpoints: 'frozen' };
  const { selector } = decodeExportedPods('', '', last).service.spec ?? {};
  if (!selector) return { text, service: keeps, endpoints: 'none' };
  return { text, service: { ...keeps, spec: { ...keeps.spec, selector } }, endpoints: 'last-selector' };
}
