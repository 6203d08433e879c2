/**
 * The services of a cluster as a table for people, and as data for programs. Their schema is generated from
 * the types (infra/package/answer-schemas.ts).
 */

import { columns, type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import type { Table } from '#shared/store/table.ts';
import type { Count } from './explanation-data.ts';
import { lacksEndpoints, type ServiceEntry } from './service-entry.ts';
import { serviceRows } from './service-rows.ts';
import { unknownService } from './unknown-service.ts';

export interface ServiceListOptions {
  readonly cluster: string;
  /** Undefined: the services of every namespace. */
  readonly namespace: string | undefined;
  readonly isNotReadyOnly: boolean;
  readonly format: OutputFormat | undefined;
}

/** Throws a UsageError for a namespace without a service. */
export async function serviceListLines(
  table: Table,
  { cluster, namespace, isNotReadyOnly, format }: ServiceListOptions,
): Promise<readonly Line[]> {
  const all = await serviceRows(table, cluster, namespace);
  if (namespace !== undefined && all.length === 0)
    throw await unknownService(table, { cluster, namespace, name: '' });
  const shown = isNotReadyOnly ? all.filter((s) => s.ready < s.selected || lacksEndpoints(s)) : all;
  if (format === 'json' || format === 'yaml') return linesAsData(shown.map(serviceData), format);
  if (format === 'name') return shown.map((s) => `${s.namespace}/${s.name}`);
  if (shown.length === 0)
    return [isNotReadyOnly && all.length > 0 ? 'all selected pods are ready' : `${cluster} has no service`];
  const [header = '', ...rows] = columns([
    ['namespace', 'service', 'type', 'ready', 'writer', ''],
    ...shown.map((s) => [
      s.namespace,
      s.name,
      s.type,
      s.selected === 0 && !lacksEndpoints(s) ? '-' : `${s.ready}/${s.selected}`,
      s.writer,
      s.differs ? 'differs' : '',
    ]),
  ]);
  return [
    { text: header, style: 'title' },
    ...rows.map((text, i): Line => styled(text, shown[i] as ServiceEntry)),
  ];
}

export interface ServiceData extends Pick<ServiceEntry, 'namespace' | 'type' | 'writers' | 'differs'> {
  readonly service: string;
  /** Pods that the selector matches. */
  readonly selected: Count;
  /** Those that are ready. */
  readonly ready: Count;
  /** The reason of the writer. */
  readonly message: string;
}

export type ServiceList = readonly ServiceData[];

const serviceData = ({
  namespace,
  name,
  type,
  selected,
  ready,
  writers,
  differs,
  why,
}: ServiceEntry): ServiceData => ({
  namespace,
  service: name,
  type,
  selected,
  ready,
  writers,
  differs,
  message: why,
});

const styled = (text: string, entry: ServiceEntry): Line => {
  const { writer, selected, ready, differs } = entry;
  if (differs || writer.startsWith('no writer:') || (selected > 0 && ready === 0))
    return { text, style: 'bad' };
  return ready < selected || lacksEndpoints(entry) ? { text, style: 'warning' } : text;
};
