/** A process as its supervisor sees it: what it reports once it can be used, and how it is told to end. */
import type { Connection } from '#shared/cluster/connection.ts';

export interface Report {
  readonly ready: true;
  /** Where it listens. A process that starts again gets the same port in LISTEN_PORT, so that nobody else need know. */
  readonly port?: number;
  /** Connections of embedded clusters by id. */
  readonly connections?: { readonly [cluster: string]: Connection };
}

export const childEnv = { port: 'LISTEN_PORT', dataDir: 'DATA_DIR', clusters: 'CLUSTERS' } as const;

export function report(what: Omit<Report, 'ready'> = {}): void {
  process.send?.({ ready: true, ...what } satisfies Report);
}

export function onStop(stop: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    void stop().finally(() => process.exit(0));
  });
}

/** One line a write: metrics and logs share the stream that the supervisor reads. */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
