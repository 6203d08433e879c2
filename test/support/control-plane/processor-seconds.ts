/**
 * Processor time of processes, from Linux's /proc: it shows where the time goes, even on a machine with other
 * work.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second, in which Linux counts. */
const ticks = 100;

/**
 * Returns the processor time of a group's processes by program, in seconds, or nothing without /proc.
 * Programs below 0.1 s are left out.
 */
export function processorSeconds(group: number): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const pid of processIds()) {
    const spent = readStat(pid);
    if (spent?.group !== group || spent.seconds < 0.1) continue;
    const name = nameOf(commandOf(pid));
    seconds.set(name, (seconds.get(name) ?? 0) + spent.seconds);
  }
  return seconds;
}

/** Returns the processor time of a process in seconds: 0 after its end, and without /proc. */
export const secondsOfProcess = (pid: number): number => readStat(String(pid))?.seconds ?? 0;

function readStat(pid: string): { readonly group: number; readonly seconds: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold spaces; what follows is numbers: state, parent, group, and from the
    // twelfth on user and system time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { group: Number(fields[2]), seconds: (Number(fields[11]) + Number(fields[12])) / ticks };
  } catch {
    return undefined;
  }
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function processIds(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The script that node runs, without folder and ending; of other programs the program. */
function nameOf(command: readonly string[]): string {
  const script = command.findLast((part) => /\.(ts|js|mjs)$/.test(part)) ?? command[0] ?? '';
  return script.replace(/^.*\//, '').replace(/(\.main)?\.\w+$/, '');
}
