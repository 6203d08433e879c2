import type { LocalCloud } from '#test/support/aws/local-cloud.ts';

/** All lines of every function since then (ms since the epoch), in order. */
export async function functionLog(cloud: LocalCloud, startTime = 0): Promise<readonly string[]> {
  const { logGroups } = (await cloud.call('logs', 'describe_log_groups')) as {
    logGroups: readonly { logGroupName: string }[];
  };
  const written: { timestamp: number; message: string }[] = [];
  for (const { logGroupName } of logGroups) {
    const { events } = (await cloud.call('logs', 'filter_log_events', { logGroupName, startTime })) as {
      events: typeof written;
    };
    written.push(...events);
  }
  return written.sort((a, b) => a.timestamp - b.timestamp).map(({ message }) => message.trim());
}
