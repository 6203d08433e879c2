import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second, in which Linux counts. */
const ticks = 100;

/**
 * Returns the processor time of a group's processes by program, or nothing without /proc. It shows where the time goes, even on a machine with other work.
 */
export function processorSeconds(group: number): ReadonlyMap<string, number> {
  const seconds = new Map<string, number>();
  for (const pid of processIds()) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name in brackets may hold spaces; what follows is numbers: state, parent, group, and from the twelfth on user and system time.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(fields[2]) !== group) continue;
      const spent = (Number(fields[11]) + Number(fields[12])) / ticks;
      const name = nameOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
      if (spent >= 0.1) seconds.set(name, (seconds.get(name) ?? 0) + spent);
    } catch {
      // It has ended meanwhile.
    }
  }
  return seconds;
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
