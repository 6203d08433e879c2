import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

interface Consumed {
  readonly CapacityUnits?: number;
}

/** Reports the units of each call of the client. The driver of the table does not ask for them. */
export function countCapacity(
  client: DynamoDBClient,
  onUnits: (command: string, units: number) => void,
): DynamoDBClient {
  const send = client.send.bind(client) as (
    command: object,
  ) => Promise<{ readonly ConsumedCapacity?: Consumed | readonly Consumed[] }>;
  client.send = (async (command: { input: object }) => {
    command.input = { ...command.input, ReturnConsumedCapacity: 'TOTAL' };
    const answer = await send(command);
    const units = [answer.ConsumedCapacity ?? []]
      .flat()
      .reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    onUnits(command.constructor.name.replace('Command', ''), units);
    return answer;
  }) as unknown as typeof client.send;
  return client;
}
