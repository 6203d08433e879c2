/**
 * The work that a writer does for a load: processor time by process and, of our writer, its runs and the
 * table's units.
 */
import { processorSeconds, secondsOfProcess } from '#test/support/control-plane/processor-seconds.ts';

/** Totals since the start of the writer. */
export interface Work {
  /** Seconds by process. */
  readonly processor: ReadonlyMap<string, number>;
  readonly runs?: number;
  readonly readUnits?: number;
  readonly writeUnits?: number;
}

export const workOfProcess = (name: string, pid: number | undefined): Work => ({
  processor: new Map(pid === undefined ? [] : [[name, secondsOfProcess(pid)]]),
});

/** `group`: of the local run's processes. `console`: address of its console. */
export async function workOfLocalRun(group: number, console: string): Promise<Work> {
  const text = await (await fetch(`${console}/metrics`)).text();
  const total = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  return {
    processor: processorSeconds(group),
    runs: total('fleet_endpoints_sync_duration_milliseconds_count'),
    readUnits: total('aws_dynamo_db_consumed_read_capacity_units_total'),
    writeUnits: total('aws_dynamo_db_consumed_write_capacity_units_total'),
  };
}

/**
 * Processes of our writer that a hub on AWS has too, the last two of older commits. The others stand in for
 * AWS.
 */
const ofHub = ['relay', 'worker', 'ingest', 'sync'];

export interface Cost {
  /** Milliseconds of processor: of the hub's processes on AWS, or of the whole of another writer. */
  readonly processorMs: number;
  readonly byProcess: readonly (readonly [name: string, ms: number])[];
  readonly runs?: number;
  readonly readUnits?: number;
  readonly writeUnits?: number;
}

/**
 * Returns the cost of a flip. `works` has the totals before the load without flips, after it, and after the
 * load with flips.
 */
export function costOfFlip([start, filled, end]: readonly Work[], flips: number): Cost {
  const perFlip = (of: (work: Work) => number | undefined): number | undefined => {
    const [a, b, c] = [start, filled, end].map((work) => work && of(work)) as [number?, number?, number?];
    return a === undefined || b === undefined || c === undefined ? undefined : (c - b - (b - a)) / flips;
  };
  const names = [...(end?.processor.keys() ?? [])];
  const ms = names.map(
    (name) => [name, 1000 * (perFlip((work) => work.processor.get(name) ?? 0) ?? 0)] as const,
  );
  const byProcess = ms.filter(([, each]) => each >= 0.05).sort(([, a], [, b]) => b - a);
  const ours = byProcess.filter(([name]) => ofHub.includes(name));
  return {
    processorMs: (ours.length > 0 ? ours : byProcess).reduce((total, [, each]) => total + each, 0),
    byProcess,
    runs: perFlip((work) => work.runs),
    readUnits: perFlip((work) => work.readUnits),
    writeUnits: perFlip((work) => work.writeUnits),
  };
}

/** Cells of the table: milliseconds of processor, the same by process, runs of 100 flips, units of the table. */
export const costCells = ({
  processorMs,
  byProcess,
  runs,
  readUnits,
  writeUnits,
}: Cost): readonly string[] => [
  processorMs.toFixed(1),
  byProcess.map(([name, each]) => `${name} ${each.toFixed(1)}`).join(', '),
  runs === undefined ? '' : (runs * 100).toFixed(0),
  readUnits === undefined || writeUnits === undefined
    ? ''
    : `${readUnits.toFixed(1)} / ${writeUnits.toFixed(1)}`,
];
