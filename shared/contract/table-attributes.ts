/** Names of the table's keys, its index and the attribute that DynamoDB's TTL looks at: code and infra take them from here. */
export const tableKey = { partition: 'pk', sort: 'sk' } as const;

/** Sparse index of work that is owed. Text and number, keys only. */
export const dirtyIndex = { name: 'dirty', partition: 'dirtyIn', sort: 'dirtyAt' } as const;

/** Seconds since the epoch. For lists and other short-lived records only: never on objects or work, as what TTL deletes is deleted unconditionally. */
export const ttlAttribute = 'ttl';
