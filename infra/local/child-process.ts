/** A child process and its supervisor: the report that it is ready, and the request to stop. */
import type { Connection } from '#shared/cluster-api/connection.ts';

export interface Report {
  readonly ready: true;
  /** The ports it listens on. A restarted process gets the same ports in LISTEN_PORTS, so that other processes need not reconnect elsewhere. */
  readonly ports?: readonly number[];
  /** Connections of embedded clusters by id. */
  readonly connections?: { readonly [cluster: string]: Connection };
}

export const childEnv = { ports: 'LISTEN_PORTS', dataDir: 'DATA_DIR', clusters: 'CLUSTERS', exports: 'EXPORTS' } as const;

/** Port number `i` of this process: the one it had before, or 0 for any free one. */
export const portOf = (i: number): number => Number(process.env[childEnv.ports]?.split(',')[i] ?? 0);

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
