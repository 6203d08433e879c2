/**
 * Which ServiceImport and which derived Service the hub has made (MC-80). A user may take the marks off one
 * of them: it is the hub's all the same, as long as what is left proves it.
 */

import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { annotationClusterset, importManagedBy, labelMcsService } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';

type AnImport = Pick<ServiceImport, 'metadata'> & { readonly spec?: Partial<ServiceImport['spec']> };

const isManaged = ({ metadata: { labels } }: Pick<Service, 'metadata'>): boolean =>
  labels?.[importManagedBy.key] === importManagedBy.value;

/** Proofs beside the ServiceImport. */
interface BesideImport {
  /** Under the name of the derived Service, whosever it is. */
  readonly derived?: Service | undefined;
  /** The hub's field manager in the cluster. */
  readonly writtenBy?: string | undefined;
}

/**
 * By the label and the name of our set. One of the two marks may be gone if the import owns the Service under
 * the derived name, or both if that Service has the hub's label. An import that names another set may be
 * another hub's, whose Service has the same label: then only the hub's field manager proves it.
 */
export function isOurImport(
  serviceImport: Pick<ServiceImport, 'metadata'>,
  set: string,
  { derived, writtenBy }: BesideImport = {},
): boolean {
  const annotated = serviceImport.metadata.annotations?.[annotationClusterset];
  if (isManaged(serviceImport) && annotated === set) return true;
  if (!derived || !isOwnedByImport(derived, serviceImport)) return false;
  if (annotated !== undefined && annotated !== set)
    return isManaged(derived) && writtenBy !== undefined && isWrittenBy(derived, writtenBy);
  return isManaged(serviceImport) || annotated === set || isManaged(derived);
}

const isWrittenBy = ({ metadata }: Service, manager: string): boolean =>
  (metadata.managedFields ?? []).some((field) => field.manager === manager);

/** Compares the uid: a former import of the same name does not own the Service. */
export const isOwnedByImport = ({ metadata }: Service, serviceImport: AnImport): boolean =>
  (metadata.ownerReferences ?? []).some(
    (o) => o.kind === 'ServiceImport' && o.uid === serviceImport.metadata.uid,
  );

/**
 * Another implementation that knows our ServiceImport gives its Service the same name, label and owner. The
 * hub therefore needs one of these proofs:
 * - our label and the owner;
 * - our label and the name of the import, if a deletion of the former import has orphaned the Service;
 * - without our label, the address that the hub has copied into the import.
 */
export function isDerivedFrom(service: Service, serviceImport: AnImport): boolean {
  const isOwned = isOwnedByImport(service, serviceImport);
  if (isManaged(service)) return isOwned || (isNamedAfter(service, serviceImport) && !isOwnedByAny(service));
  const { clusterIP = 'None' } = service.spec ?? {};
  return isOwned && clusterIP !== 'None' && serviceImport.spec?.ips?.includes(clusterIP) === true;
}

const isNamedAfter = ({ metadata }: Service, serviceImport: AnImport): boolean =>
  metadata.labels?.[labelMcsService] === serviceImport.metadata.name;

const isOwnedByAny = ({ metadata }: Service): boolean =>
  (metadata.ownerReferences ?? []).some((o) => o.kind === 'ServiceImport');
