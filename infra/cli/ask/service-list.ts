/**
 * The services of a cluster as a table for people, and as data for programs. Their schema is generated from
 * the types (infra/package/answer-schemas.ts).
 */

import { columns, type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import type { Table } from '#shared/store/table.ts';
import { worstCause } from './answer-text.ts';
import type { Count } from './explanation-data.ts';
import { needsALook, type ServiceEntry } from './service-entry.ts';
import { serviceRows } from './service-rows.ts';
import { unknownService } from './unknown-service.ts';

export interface ServiceListOptions {
  readonly cluster: string;
  /** Undefined: the services of every namespace. */
  readonly namespace: string | undefined;
  readonly isNotReadyOnly: boolean;
  /** ms since the epoch, by the hub's clock. */
  readonly now: number;
  readonly format: OutputFormat | undefined;
}

/** Throws a UsageError for a namespace without a service. */
export async function serviceListLines(
  table: Table,
  { cluster, namespace, isNotReadyOnly, now, format }: ServiceListOptions,
): Promise<readonly Line[]> {
  const all = await serviceRows(table, cluster, { namespace, now });
  if (namespace !== undefined && all.length === 0)
    throw await unknownService(table, { cluster, namespace, name: '' });
  const shown = isNotReadyOnly ? all.filter(needsALook) : all;
  if (format === 'json' || format === 'yaml') return linesAsData(shown.map(serviceData), format);
  if (format === 'name') return shown.map((s) => `${s.namespace}/${s.name}`);
  if (shown.length === 0)
    return [isNotReadyOnly && all.length > 0 ? 'every Service can be reached' : `${cluster} has no service`];
  const [header = '', ...rows] = columns([
    ['namespace', 'service', 'type', 'ready', 'reach', 'writer', ''],
    ...shown.map((s) => [
      s.namespace,
      s.name,
      s.type,
      s.selected ? `${s.ready}/${s.selected}` : '-',
      s.reach ?? '-',
      s.writer,
      [s.differs ? 'differs' : '', worstCause(s.causes)].filter(Boolean).join('; '),
    ]),
  ]);
  return [
    { text: header, style: 'title' },
    ...rows.map((text, i): Line => styled(text, shown[i] as ServiceEntry)),
  ];
}

type AsListed = 'namespace' | 'type' | 'writers' | 'state' | 'reach' | 'causes' | 'differs';
export interface ServiceData extends Pick<ServiceEntry, AsListed> {
  readonly service: string;
  /** Selected pods that run. Null if what is served is not known. */
  readonly selected: Count | null;
  /** Those that can be reached. */
  readonly ready: Count | null;
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
  state,
  reach,
  causes,
  writers,
  differs,
  why,
}: ServiceEntry): ServiceData => ({
  namespace,
  service: name,
  type,
  selected,
  ready,
  state,
  reach,
  causes,
  writers,
  differs,
  message: why,
});

const styled = (text: string, { health }: ServiceEntry): Line =>
  health === null || health === 'good' ? text : { text, style: health };
