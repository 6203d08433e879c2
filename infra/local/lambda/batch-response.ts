/**
 * Returns the messages that failed by a function's response, as the event source mapping reads it with
 * ReportBatchItemFailures. An absent response, {} and an empty or null list are success. An identifier that
 * is empty or unknown fails the whole batch.
 */
export function failedMessages(
  response: unknown,
  messageIds: readonly string[],
): ReadonlySet<string> | 'all' {
  if (response === undefined || response === null) return new Set();
  if (typeof response !== 'object') return 'all';
  const failures = (response as { batchItemFailures?: unknown }).batchItemFailures ?? [];
  if (!Array.isArray(failures)) return 'all';
  const ids = failures.map((f: { itemIdentifier?: unknown } | null) => f?.itemIdentifier);
  return ids.every((id) => typeof id === 'string' && messageIds.includes(id))
    ? new Set(ids as string[])
    : 'all';
}
