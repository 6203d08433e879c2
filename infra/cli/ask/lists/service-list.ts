/**
 * The services of a cluster as a table for people, and as data for programs. Their schema is generated from
 * the types (infra/package/answer-schemas.ts).
 */

import { columns, type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import type { Table } from '#shared/store/table.ts';
import { worstCause } from '../answer-text.ts';
import { unknownService } from '../unknown-service.ts';
import type { ServiceData, ServiceEntry } from './service-entry.ts';
import { serviceRows } from './service-rows.ts';

export interface ListedServices {
  readonly cluster: string;
  /** Undefined: the services of every namespace. */
  readonly namespace: string | undefined;
  readonly isNotReadyOnly: boolean;
  /** ms since the epoch, by the hub's clock. */
  readonly now: number;
}

/** Throws a UsageError for a namespace without a service. */
export async function listedServices(
  table: Table,
  { cluster, namespace, isNotReadyOnly, now }: ListedServices,
): Promise<readonly ServiceEntry[]> {
  const all = await serviceRows(table, cluster, now, namespace);
  if (namespace !== undefined && all.length === 0)
    throw await unknownService(table, { cluster, namespace, name: '' }, now);
  return isNotReadyOnly ? all.filter(({ health }) => health !== null && health !== 'good') : all;
}

/** Throws a UsageError for a namespace without a service. */
export async function serviceListLines(
  table: Table,
  { format, ...asked }: ListedServices & { readonly format: OutputFormat | undefined },
): Promise<readonly Line[]> {
  const none = asked.isNotReadyOnly ? 'every Service can be reached' : `${asked.cluster} has no service`;
  return listLines(await listedServices(table, asked), format, none);
}

/** Without a hub, the services have no writer. */
export function listLines(
  shown: readonly ServiceEntry[],
  format: OutputFormat | undefined,
  none: string,
): readonly Line[] {
  const data = shown.map((s) => s.data);
  if (format === 'json' || format === 'yaml') return linesAsData(data, format);
  if (format === 'name') return data.map((s) => `${s.namespace}/${s.service}`);
  if (shown.length === 0) return [none];
  const hasWriters = shown.some((s) => s.writer !== '');
  const [header = '', ...rows] = columns([
    ['namespace', 'service', 'type', 'ready', 'reach', ...(hasWriters ? ['writer'] : []), ''],
    ...data.map((s, i) => [
      ...[s.namespace, s.service, s.type],
      s.selected ? `${s.ready}/${s.selected}` : '-',
      s.reach ?? '-',
      ...(hasWriters ? [shown[i]?.writer ?? ''] : []),
      [s.differs ? 'differs' : '', worstCause(s.causes)].filter(Boolean).join('; '),
    ]),
  ]);
  return [
    { text: header, style: 'title' },
    ...rows.map((text, i): Line => {
      const health = shown[i]?.health ?? 'good';
      return health === 'good' ? text : { text, style: health };
    }),
  ];
}

export type ServiceList = readonly ServiceData[];
