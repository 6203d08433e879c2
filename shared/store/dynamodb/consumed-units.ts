import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';

/** Of an operation on many items, which tells its units in parts. */
export const unitsOf = ({ ConsumedCapacity: parts = [] }: { readonly ConsumedCapacity?: readonly ConsumedCapacity[] | undefined }): number =>
  parts.reduce((sum, { CapacityUnits: units = 0 }) => sum + units, 0);
