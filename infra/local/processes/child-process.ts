/** Messages between a child process and its supervisor: the report of readiness and the request to stop. */
import type { Connection } from '#shared/clusters/api/connection.ts';

export interface Report {
  readonly ready: true;
  /**
   * The ports that the process listens on. A restarted process gets the same ports in LISTEN_PORTS, so
   * addresses of other processes stay valid.
   */
  readonly ports?: readonly number[];
  /** Connections of embedded clusters by id. */
  readonly connections?: { readonly [cluster: string]: Connection };
}

export const childEnv = {
  ports: 'LISTEN_PORTS',
  dataDir: 'DATA_DIR',
  clusters: 'CLUSTERS',
  exports: 'EXPORTS',
  queues: 'QUEUES',
} as const;

/** Returns port number `i` of this process: its former port, or 0 for any free port. */
export const portOf = (i: number): number => Number(process.env[childEnv.ports]?.split(',')[i] ?? 0);

export function report(what: Omit<Report, 'ready'> = {}): void {
  process.send?.({ ready: true, ...what } satisfies Report);
}

export function onStop(stop: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    void stop().finally(() => process.exit(0));
  });
}

/** Writes each line at once, because metrics and logs share the stream that the supervisor reads. */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
