/** Topology hints of services (TA-8), one record a service. Ingest reads them when nodes change. */
import type { HintsRecord } from '#shared/slices/plan.ts';
import { hintsKey, hintsOf, nameOfPair, type ServiceKey } from './keys.ts';
import { inPages } from './pages.ts';
import type { Table } from './table.ts';

export async function readHints(table: Table, s: ServiceKey): Promise<HintsRecord | undefined> {
  const text = (await table.get(hintsKey(s)))?.['h'] as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as HintsRecord);
}

export async function saveHints(table: Table, s: ServiceKey, hints: HintsRecord | undefined): Promise<void> {
  const key = hintsKey(s);
  if (hints) await table.put({ ...key, h: JSON.stringify(hints) });
  else await table.delete(key);
}

export async function* listHints(
  table: Table,
  cluster: string,
): AsyncGenerator<{ readonly namespace: string; readonly name: string; readonly hints: HintsRecord }> {
  for await (const item of inPages(table, hintsOf(cluster), hintsAtOnce))
    yield { ...nameOfPair(item.sk), hints: JSON.parse(item['h'] as string) as HintsRecord };
}

const hintsAtOnce = 500;
