/** ServiceExport and ServiceImport as they are on the wire (MC-2..4). */
import type { ObjectMeta } from './wire.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

interface TextMap {
  readonly [key: string]: string;
}

export interface ServiceExport {
  readonly apiVersion: string;
  readonly kind: 'ServiceExport';
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly exportedLabels?: TextMap; readonly exportedAnnotations?: TextMap };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export type ImportType = 'ClusterSetIP' | 'Headless';

export interface ImportPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

export interface ImportSpec {
  readonly type: ImportType;
  readonly ports: readonly ImportPort[];
  readonly ips?: readonly string[];
  readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[];
  readonly sessionAffinity?: string;
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly internalTrafficPolicy?: string;
  readonly trafficDistribution?: string;
}

export interface ImportStatus {
  readonly clusters?: readonly { readonly cluster: string }[];
  readonly conditions?: readonly Condition[];
  readonly endpointSliceObjects?: 'Present' | 'Absent';
}

export interface ServiceImport {
  readonly apiVersion: string;
  readonly kind: 'ServiceImport';
  readonly metadata: ObjectMeta;
  readonly spec: ImportSpec;
  readonly status?: ImportStatus;
}
