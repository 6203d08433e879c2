/** Writes to a cluster's API with preconditions, for the controllers and for imports. */
import { isAlreadyExists } from '#shared/clusters/api/errors.ts';
import type { ApiKind, ClusterApi } from '#shared/clusters/api/port.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import type { EndpointSlice, ObjectMeta } from '#shared/kube/types.ts';

/** Deletes the object only as the caller has read it. Resolves to false if the object was gone. */
export async function deleteAsSeen(
  api: ClusterApi,
  kind: ApiKind,
  { metadata }: { readonly metadata: ObjectMeta },
): Promise<boolean> {
  const { namespace = '', name, uid = '', resourceVersion = '' } = metadata;
  return api.delete(kind, namespace, name, { uid, resourceVersion });
}

export interface NewSlice {
  readonly namespace: string;
  readonly draft: SliceDraft;
  /** Uid of the Service that owns it. */
  readonly owner: string;
  /** Names of slices in the cluster, as far as the run has read them. The name that is tried is added. */
  readonly taken: Set<string>;
  /**
   * May a slice of the same name be replaced? An earlier run may have created it before a crash. Left out: no
   * slice is replaced.
   */
  readonly isAdoptable?: (other: EndpointSlice) => boolean;
}

/**
 * Names of slices follow from the Service and an ordinal. If a name belongs to a slice that is not adoptable,
 * the next name is tried.
 */
export async function createSlice(
  api: ClusterApi,
  wanted: NewSlice,
): Promise<{ readonly slice: EndpointSlice; readonly verb: 'create' | 'update' }> {
  for (let tries = 1; ; tries++) {
    const slice = assignName(wanted.draft, wanted.owner, wanted.taken);
    wanted.taken.add(slice.metadata.name);
    try {
      return { slice: await api.create('EndpointSlice', slice), verb: 'create' };
    } catch (error) {
      if (!isAlreadyExists(error) || tries === nameTries) throw error;
      const adopted = await adopt(api, slice, wanted);
      if (adopted) return { slice: adopted, verb: 'update' };
    }
  }
}

async function adopt(
  api: ClusterApi,
  slice: EndpointSlice,
  { namespace, isAdoptable }: NewSlice,
): Promise<EndpointSlice | undefined> {
  if (!isAdoptable) return undefined;
  const other = await api.get('EndpointSlice', namespace, slice.metadata.name);
  if (!other || !isAdoptable(other)) return undefined;
  const { uid, resourceVersion } = other.metadata;
  return api.replace('EndpointSlice', { ...slice, metadata: { ...slice.metadata, uid, resourceVersion } });
}

/** Another client may have taken all slices of the Service, whose names are in use then. */
const nameTries = 100;
