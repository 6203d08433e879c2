/** Pods of a hostile relay, as the driver of DynamoDB reads them: new text for each page, as from the network. */
import type { DynamoDBClient, QueryCommand, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { podDefaults } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import { NamespacePods, PodsTooLarge } from '#shared/pods/namespace-pods.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';

const namespaces = 10;
const pageBytes = 1 << 20;

/** Ten imports at once read a namespace each, just below the bound. Then the same namespaces have more pods than any worker could hold. */
export async function podsOfOneSource(projection: (i: number) => string): Promise<void> {
  const { maxSourceBytes } = podDefaults;
  const pods = new NamespacePods();
  const view = (bytes: number, of: number): Promise<readonly Pod[]> =>
    pods.podsOf({ table: tableWith(bytes, projection), cluster: 'b' }, `ns-${of}`, maxSourceBytes);
  const read = (bytes: number) => Promise.allSettled(Array.from({ length: namespaces }, (_, i) => view(bytes, i)));
  const views = await read(maxSourceBytes - pageBytes);
  const again = await read(64 * maxSourceBytes);
  if (views.some(({ status }) => status === 'rejected')) throw new Error('a namespace below the bound was not read');
  if (again.some((r) => r.status === 'fulfilled' || !(r.reason instanceof PodsTooLarge))) throw new Error('a namespace above the bound was read');
}

function tableWith(bytes: number, projection: (i: number) => string) {
  let made = 0;
  const send = async ({ input }: QueryCommand): Promise<Partial<QueryCommandOutput>> => {
    const Items: Record<string, { readonly S: string }>[] = [];
    const pk = input.ExpressionAttributeValues?.[':pk']?.S ?? '';
    for (let page = 0; page < pageBytes && made < bytes; ) {
      const o = projection(made);
      Items.push({ pk: { S: pk }, sk: { S: `pod-${made}` }, v: { S: '00000101' }, o: { S: o } });
      page += o.length + 60;
      made += o.length + 60;
    }
    return { Items, ...(made < bytes && { LastEvaluatedKey: { pk: { S: pk }, sk: { S: `${made}` } } }) };
  };
  return dynamoTable({ send } as unknown as DynamoDBClient, 'table');
}
