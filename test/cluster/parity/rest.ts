/** Counts the write requests of a controller while nothing changes. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';

type Counts = ReadonlyMap<string, number>;

/**
 * Counts requests, not changes: the API server answers a replacement by the stored object without a new
 * resourceVersion, so a writer of a field that the API server drops shows in the requests alone.
 */
export async function writesAtRest(connection: Connection, seconds: number): Promise<readonly string[]> {
  const before = await writeRequests(connection);
  if (before.size === 0)
    throw new Error("the API server's metrics have no write of Endpoints, slices or Events");
  await sleep(seconds * 1000);
  const after = await writeRequests(connection);
  return [...after].flatMap(([what, n]) =>
    n > (before.get(what) ?? 0) ? [`${n - (before.get(what) ?? 0)} × ${what}`] : [],
  );
}

async function writeRequests(connection: Connection): Promise<Counts> {
  const transport = httpTransport(connection);
  try {
    const { status, body } = await transport.request('GET', '/metrics');
    if (status !== 200) throw new Error(`/metrics: ${status}`);
    return writesIn(body.toString());
  } finally {
    transport.close();
  }
}

/**
 * Counts of writes by verb and resource, of Endpoints, slices and Events, from the text of an API server's
 * /metrics.
 */
export function writesIn(text: string): Counts {
  const counts = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const [verb, resource] = ['verb', 'resource'].map(
      (name) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '',
    );
    if (!/^(endpoints|endpointslices|events)$/.test(resource ?? '') || /^(GET|LIST|WATCH)/.test(verb ?? ''))
      continue;
    const what = `${verb} ${resource}`;
    counts.set(what, (counts.get(what) ?? 0) + Number(value));
  }
  return counts;
}
