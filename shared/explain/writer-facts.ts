/** Who writes the endpoints of a Service in its cluster, and why, in words. */
import { isShadow, writesOptIn } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { annotationSelector, labelMcsService } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { type Writer, writerOf } from '#shared/opt-in/writer.ts';

/** As much of a cluster's record as this needs. */
export type WriterSwitches = Pick<ClusterRecord, 'mode' | 'optIn' | 'withdrawsOptIn' | 'settings' | 'writerConflict'>;

export interface WriterFacts {
  /** A few words, for a list of services. */
  readonly name: string;
  /** A sentence. */
  readonly why: string;
}

const us = 'fleet-endpoints';
const builtIn = 'the built-in controllers';
const none = 'no writer';

export function writerFacts(service: Service, cluster: WriterSwitches): WriterFacts {
  const { namespace, name } = service.metadata;
  if (namespace === 'default' && name === 'kubernetes' && !service.spec?.selector) {
    return { name: 'the API server', why: 'it is the Service of the API server, which writes its endpoints itself' };
  }
  const derivedFrom = derivedFromImport(service);
  if (derivedFrom !== undefined) return { name: `import of ${derivedFrom}`, why: derivedText(service, derivedFrom) };
  const writer = writerOf(service);
  switch (writer.by) {
    case 'built-in':
      return ofSelector(writer, cluster);
    case 'opt-in':
      return ofAnnotation(writer.reason, cluster);
    case 'held':
      return { name: `${none}: annotation`, why: `${writer.reason}; its slices stay as they are` };
    case 'none':
      return service.spec?.type === 'ExternalName'
        ? { name: none, why: writer.reason }
        : { name: `${none}: no selector`, why: `${writer.reason}: endpoints that it has are made by hand or by another controller` };
  }
}

/** The name of the ServiceImport that the Service is derived from. */
export const derivedFromImport = ({ metadata, spec }: Service): string | undefined =>
  spec?.selector ? undefined : metadata.labels?.[labelMcsService];

export const derivedText = ({ metadata }: Service, name: string): string =>
  `it is derived from ServiceImport ${name}: explain ${metadata.namespace}/${name} says where its endpoints are from`;

function ofSelector({ reason }: Writer, { mode, settings, writerConflict }: WriterSwitches): WriterFacts {
  if (mode === 'shadow') return { name: builtIn, why: `${reason}, and the cluster is in shadow mode: the hub compares` };
  if (mode !== 'active') return { name: `${builtIn}, where they are on`, why: `${reason}, and the hub writes nothing: the cluster is ${mode}` };
  if (writerConflict) return { name: 'another writer', why: `${reason}, and another writer keeps writing what is ours: the hub has stopped` };
  const { endpoints, slices } = settings;
  if (!endpoints && !slices) return { name: builtIn, why: `${reason}, and both controllers are off in the cluster’s settings` };
  const part = endpoints && slices ? '' : endpoints ? ' (Endpoints alone)' : ' (slices alone)';
  return { name: `${us}${part}`, why: `${reason}, and the cluster is active: the hub writes in place of ${builtIn}` };
}

function ofAnnotation(reason: string, cluster: WriterSwitches): WriterFacts {
  const { mode, optIn } = cluster;
  const why = (text: string): string => `${reason}; ${text}`;
  if (optIn === 'off')
    return { name: `${none}: opt-in is off`, why: why('the cluster’s switch for opt-in is off: what slices it has stay as they are') };
  if (cluster.withdrawsOptIn) return { name: `${none}: withdrawn`, why: why('the cluster’s slices of Services that opt in are being withdrawn') };
  if (optIn === 'shadow') return { name: `${none}: preview`, why: why('the cluster’s switch for opt-in is shadow: what would be written is shown') };
  if (!writesOptIn(cluster)) return { name: `${none}: ${mode}`, why: why(`the cluster is ${mode}: its slices stay as they are`) };
  if (cluster.writerConflict) return { name: 'another writer', why: why('another writer keeps writing what is ours: the hub has stopped') };
  const beside = isShadow({ mode }) ? `, beside ${builtIn}` : '';
  return { name: `${us}, opt-in`, why: why(`the cluster’s switch for opt-in is active: the hub writes its slices${beside}, and no Endpoints`) };
}

/** The selector that the hub goes by, and where it is from; undefined without one. */
export function selectorText(service: Service): string | undefined {
  const writer = writerOf(service);
  const text = (selector: { readonly [key: string]: string }): string =>
    Object.entries(selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(', ');
  if (writer.by === 'opt-in') return `${text(writer.selector)} (annotation ${annotationSelector})`;
  const { selector } = service.spec ?? {};
  if (!selector) return undefined;
  const own = text(selector) || 'empty: every pod of the namespace';
  return writer.by === 'built-in' && writer.annotated ? `${own}; the annotation gives ${text(writer.annotated)}` : own;
}
