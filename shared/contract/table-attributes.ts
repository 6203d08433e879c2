/** Names of the table's keys, its index and the attribute of DynamoDB's TTL, for code and infra. */
export const tableKey = { partition: 'pk', sort: 'sk' } as const;

/** Sparse index of pending work, with keys only. The partition is text, and the sort key a number. */
export const dirtyIndex = { name: 'dirty', partition: 'dirtyIn', sort: 'dirtyAt' } as const;

/**
 * Expiry in seconds since the epoch. Only lists and other short-lived records have it: TTL deletes
 * unconditionally, which objects and work must not be.
 */
export const ttlAttribute = 'ttl';
