/**
 * The services of a cluster as a table for people, and as data for programs. Their schema is generated from
 * the types (infra/package/answer-schemas.ts).
 */

import { columns, type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import type { Table } from '#shared/store/table.ts';
import { worstCause } from '../answer-text.ts';
import type { Count } from '../explanation-data.ts';
import { unknownService } from '../unknown-service.ts';
import { needsALook, type ServiceEntry } from './service-entry.ts';
import { serviceRows } from './service-rows.ts';

export interface ListedServices {
  readonly cluster: string;
  /** Undefined: the services of every namespace. */
  readonly namespace: string | undefined;
  readonly isNotReadyOnly: boolean;
  /** ms since the epoch, by the hub's clock. */
  readonly now: number;
}

export interface ServiceListOptions extends ListedServices {
  readonly format: OutputFormat | undefined;
}

/** Throws a UsageError for a namespace without a service. */
export async function listedServices(
  table: Table,
  { cluster, namespace, isNotReadyOnly, now }: ListedServices,
): Promise<readonly ServiceEntry[]> {
  const all = await serviceRows(table, cluster, { namespace, now });
  if (namespace !== undefined && all.length === 0)
    throw await unknownService(table, { cluster, namespace, name: '' }, now);
  return isNotReadyOnly ? all.filter(needsALook) : all;
}

/** Throws a UsageError for a namespace without a service. */
export async function serviceListLines(
  table: Table,
  { format, ...asked }: ServiceListOptions,
): Promise<readonly Line[]> {
  const shown = await listedServices(table, asked);
  if (format === 'json' || format === 'yaml') return linesAsData(shown.map(serviceData), format);
  if (format === 'name') return shown.map((s) => `${s.namespace}/${s.name}`);
  if (shown.length === 0)
    return [asked.isNotReadyOnly ? 'every Service can be reached' : `${asked.cluster} has no service`];
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

type AsListed = 'namespace' | 'type' | 'state' | 'reach' | 'causes';
export interface ServiceData extends Pick<ServiceEntry, AsListed> {
  readonly service: string;
  /** Selected pods that run. Null if what is served is not known. */
  readonly selected: Count | null;
  /** Those that can be reached. */
  readonly ready: Count | null;
  /** The first sentence of `explain`. */
  readonly message: string;
  /** Null without a hub. */
  readonly writers: ServiceEntry['writers'] | null;
  /** Shadow mode has confirmed a difference. Null without a hub. */
  readonly differs: boolean | null;
}

export type ServiceList = readonly ServiceData[];

export const serviceData = ({
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
  summary,
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
  message: summary,
});

const styled = (text: string, { health }: ServiceEntry): Line =>
  health === null || health === 'good' ? text : { text, style: health };
