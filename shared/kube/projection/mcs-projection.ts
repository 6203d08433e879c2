/**
 * The fields of a Namespace, ServiceExport and ServiceImport that leave their cluster. `projection.ts` has
 * the kinds of every cluster.
 */
import type { ServiceExport, ServiceImport } from '../mcs-types.ts';
import { annotationClusterset, annotationMinLocal, annotationPrefer } from '../names.ts';
import type { ClustersetKind, Namespace, ObjectMeta, ObjectOfKind } from '../types.ts';

type Labels = { readonly [key: string]: string };
/** RFC 3339, as the API server has it; "" for none. */
type Time = string;

type NamespaceTuple = readonly [uid: string, deleted: Time, clusterset: string];
/** Without its status: a condition that the hub has written would come back as a change. */
type ExportTuple = readonly [
  uid: string,
  created: Time,
  deleted: Time,
  generation: number,
  labels: Labels,
  annotations: Labels,
  /** Annotations of the export itself that the hub reads. */
  own: Labels,
];
/** Enough fields to detect an edit. A run reads the whole object before it writes. */
type ImportTuple = readonly [
  uid: string,
  deleted: Time,
  generation: number,
  labels: Labels,
  annotations: Labels,
];

export function encodeClustersetObject(kind: ClustersetKind, object: ObjectOfKind[ClustersetKind]): string {
  const {
    uid = '',
    creationTimestamp = '',
    deletionTimestamp = '',
    generation = 0,
    labels = {},
    annotations = {},
  } = object.metadata as ObjectMeta;
  switch (kind) {
    case 'Namespace':
      return JSON.stringify([
        uid,
        deletionTimestamp,
        labels[annotationClusterset] ?? '',
      ] satisfies NamespaceTuple);
    case 'ServiceExport': {
      const { exportedLabels = {}, exportedAnnotations = {} } = (object as ServiceExport).spec ?? {};
      const own = ownAnnotations(annotations);
      const tuple: ExportTuple = [
        uid,
        creationTimestamp,
        deletionTimestamp,
        generation,
        exportedLabels,
        exportedAnnotations,
        own,
      ];
      return JSON.stringify(tuple);
    }
    case 'ServiceImport':
      return JSON.stringify([uid, deletionTimestamp, generation, labels, annotations] satisfies ImportTuple);
  }
}

export function decodeClustersetObject(
  kind: ClustersetKind,
  namespace: string,
  name: string,
  encoded: unknown,
): ObjectOfKind[ClustersetKind] {
  switch (kind) {
    case 'Namespace': {
      const [uid, deleted, clusterset] = encoded as NamespaceTuple;
      const labels: Labels = clusterset === '' ? {} : { [annotationClusterset]: clusterset };
      return {
        apiVersion: 'v1',
        kind,
        metadata: { name, uid, labels, ...deletedAt(deleted) },
      } satisfies Namespace;
    }
    case 'ServiceExport': {
      const [uid, created, deleted, generation, exportedLabels, exportedAnnotations, own] =
        encoded as ExportTuple;
      const times = { ...(created !== '' && { creationTimestamp: created }), ...deletedAt(deleted) };
      const metadata = { namespace, name, uid, generation, ...times, annotations: own };
      return {
        apiVersion: mcsApiVersion,
        kind,
        metadata,
        spec: { exportedLabels, exportedAnnotations },
      } satisfies ServiceExport;
    }
    case 'ServiceImport': {
      const [uid, deleted, generation, labels, annotations] = encoded as ImportTuple;
      const metadata = { namespace, name, uid, generation, labels, annotations, ...deletedAt(deleted) };
      return {
        apiVersion: mcsApiVersion,
        kind,
        metadata,
        spec: { type: 'ClusterSetIP', ports: [] },
      } satisfies ServiceImport;
    }
  }
}

/**
 * Longer values are cut to this length. Every allowed value is shorter, and a long rest could keep the export
 * from being sent.
 */
const maxValueLength = 64;

function ownAnnotations(annotations: Labels): Labels {
  const own = [annotationPrefer, annotationMinLocal].flatMap((key) => {
    const value = annotations[key];
    return value === undefined ? [] : [[key, value.slice(0, maxValueLength)] as const];
  });
  return Object.fromEntries(own);
}

export const mcsApiVersion = 'multicluster.x-k8s.io/v1beta1';
/** The same schema as v1beta1. Older CRDs serve only this version. */
export const mcsAlphaVersion = 'multicluster.x-k8s.io/v1alpha1';

const deletedAt = (deleted: Time) => (deleted === '' ? {} : { deletionTimestamp: deleted });
