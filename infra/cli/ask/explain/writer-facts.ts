/** The writer of a Service's endpoints in its cluster, with the reason in words. */
import { type WriterSwitches, writersFor } from '#shared/clusters/writer/writer-for.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector, labelMcsService } from '#shared/kube/names.ts';
import { requirementsOf, requirementText, type Selector } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';

export interface WriterFacts {
  /** A few words, for a list of services. */
  readonly name: string;
  /** A sentence. */
  readonly why: string;
}

export function writerFacts(service: Service, cluster: WriterSwitches): WriterFacts {
  const { namespace, name } = service.metadata;
  if (namespace === 'default' && name === 'kubernetes' && !service.spec?.selector) {
    return {
      name: 'the API server',
      why: 'it is the Service of the API server, which writes its endpoints itself',
    };
  }
  const derivedFrom = derivedFromImport(service);
  if (derivedFrom !== undefined)
    return { name: `import of ${derivedFrom}`, why: derivedText(service, derivedFrom) };
  const { endpoints, slices } = writersFor(service, cluster);
  const isHubs = { endpoints: endpoints.writer === 'hub', slices: slices.writer === 'hub' };
  const { name: writer, why } = isHubs.endpoints && !isHubs.slices ? endpoints : slices;
  if (isHubs.endpoints === isHubs.slices || slices.by !== 'built-in') return { name: writer, why };
  return { name: `${writer} (${isHubs.slices ? 'slices' : 'Endpoints'} alone)`, why };
}

/** Returns the name of the ServiceImport that the Service is derived from, or undefined. */
export const derivedFromImport = ({ metadata, spec }: Service): string | undefined =>
  spec?.selector ? undefined : metadata.labels?.[labelMcsService];

export const derivedText = ({ metadata }: Service, name: string): string =>
  `it is derived from ServiceImport ${name}: explain ${metadata.namespace}/${name} shows the sources of its endpoints`;

/** Returns the selector that the hub uses, and its origin, or undefined without a selector. */
export function selectorText(service: Service): string | undefined {
  const writer = writerOf(service);
  const text = (selector: Selector): string => requirementsOf(selector).map(requirementText).join(', ');
  if (writer.by === 'opt-in') return `${text(writer.selector)} (annotation ${annotationSelector})`;
  const { selector } = service.spec ?? {};
  if (!selector) return undefined;
  const own = text(selector) || 'empty: every pod of the namespace';
  return writer.by === 'built-in' && writer.annotated
    ? `${own}; the annotation gives ${text(writer.annotated)}`
    : own;
}
