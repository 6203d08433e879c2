/** Events about an object. The API server keeps them for an hour. */
import type { CoreEvent } from '#shared/kube/types.ts';

export const eventsOf = (events: readonly CoreEvent[], kind: string, name: string): readonly CoreEvent[] =>
  events.filter(({ involvedObject: of }) => of.kind === kind && of.name === name);

const timeOf = ({ lastTimestamp, eventTime, series, metadata }: CoreEvent): string =>
  String(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '');

export function newestEvent(
  events: readonly CoreEvent[],
  ...reasons: readonly string[]
): CoreEvent | undefined {
  return events
    .filter(({ reason = '' }) => reasons.includes(reason))
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0];
}

/** The message of an Event on one line, of at most 300 characters. */
export function messageOf({ message = '' }: Pick<CoreEvent, 'message'>): string {
  const line = message.trim().replace(/\s+/g, ' ');
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
