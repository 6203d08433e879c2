/** The history of endpoints that the hub does not write, as the table holds it (shadow mode). */
import {
  type AskedObserved,
  type ObservedOutput,
  observedThen,
} from '#infra/cli/ask/history/observed-then.ts';
import { exactTime } from '#infra/cli/ask/history/sentences.ts';
import type { Then } from '#infra/cli/ask/history/then.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { addressesOf } from '#shared/controllers/history/addresses.ts';
import type { ObservedRecord } from '#shared/controllers/history/observed-record.ts';
import { isOfFormerService } from '#shared/controllers/slices/planned-slice.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { readObservedTexts } from '#shared/store/outputs/observed-records.ts';
import { type OutputName, type OutputRecord, readObservedOutputs } from '#shared/store/outputs/outputs.ts';
import type { Table } from '#shared/store/table.ts';
import { incarnationOf } from '#shared/store/version.ts';

export interface AskedOfCluster extends AskedObserved {
  readonly cluster: Pick<ClusterRecord, 'incarnation' | 'incarnationSinceMs'>;
  readonly service: Service | undefined;
}

/** Returns undefined if no state of the Service's outputs is on record. */
export async function explainObserved(
  table: Table,
  key: ServiceKey,
  asked: AskedOfCluster,
): Promise<Then | undefined> {
  // Records are written before the states are saved: one that is newer than its output is not applied yet.
  const saved = await readObservedOutputs(table, key);
  const records = await readObserved(table, key, mostObserved);
  const ofOutput = Map.groupBy(records, ({ output }) => `${output.kind} ${output.name}`);
  const outputs = saved.map((output): ObservedOutput => {
    const { kind, name, object, isMetadataOnly, observed } = output;
    const of = ofOutput.get(`${kind} ${name}`) ?? [];
    return {
      name: nameText(output),
      now: isMetadataOnly ? undefined : addressesOf(object ? [object] : []),
      doubt: doubtOf(output, asked),
      sinceMs: observed?.sinceMs,
      records: of,
    };
  });
  if (!outputs.some(({ sinceMs, records: of }) => sinceMs !== undefined || of.length > 0)) return undefined;
  const isCut = records.length === mostObserved;
  const keptSinceMs = isCut ? (records[0] as ObservedRecord).atMs : asked.keptSinceMs;
  return observedThen(outputs, { ...asked, keptSinceMs });
}

/**
 * A list finds what is gone by the Services that the hub knows. It does not find the outputs of a Service whose
 * own message came later, and was outdated then.
 */
function doubtOf(
  { kind, name, version, object }: OutputRecord,
  { atMs, service, cluster: { incarnation, incarnationSinceMs } }: AskedOfCluster,
): string | undefined {
  if (!object) return undefined;
  const what = nameText({ kind, name });
  if (incarnationOf(version) < incarnation && atMs >= incarnationSinceMs)
    return `the cluster was restored, or created again, before ${exactTime(incarnationSinceMs)}: no list has had ${what} since`;
  if (!service) return `the hub does not know the Service, and ${what} may be gone with it`;
  return isOfFormerService(object as EndpointSlice, service)
    ? `${what} is of a former Service of that name, and may be gone with it`
    : undefined;
}

const nameText = ({ kind, name }: OutputName): string =>
  kind === 'Endpoints' ? 'Endpoints' : `EndpointSlice ${name}`;

/** Records of other clients' writes that an answer reads. */
export const mostObserved = 5_000;

/** Oldest first. */
export async function readObserved(
  table: Table,
  key: ServiceKey,
  atMost: number,
): Promise<readonly ObservedRecord[]> {
  const texts = await readObservedTexts(table, key, atMost);
  return texts.map((text) => JSON.parse(text) as ObservedRecord).reverse();
}
