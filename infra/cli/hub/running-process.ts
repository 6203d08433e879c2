import { readFileSync } from 'node:fs';

/** A process by its id and its start, because the system gives an id to several processes over time. */
export interface RunningProcess {
  readonly pid: number;
  /** When it began, in the system's own unit; undefined where the system does not provide it. */
  readonly began?: string | undefined;
}

export const thisProcess = (): RunningProcess => ({ pid: process.pid, began: statOf(process.pid)[1] });

export function isRunning({ pid, began }: RunningProcess): boolean {
  try {
    process.kill(pid, 0);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // The number of a process that has gone may be another one's by now.
  if (began === undefined) return true;
  const [state, now] = statOf(pid);
  // Z is a zombie: the process has ended, and its parent has not read its status, as in a container without
  // an init.
  return began === now && state !== 'Z';
}

/**
 * Linux: fields 3 (state) and 22 (begin) of stat, which come after a name in brackets that may hold anything.
 */
function statOf(pid: number): readonly [string | undefined, string | undefined] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [fields[0], fields[19]];
  } catch {
    return [undefined, undefined];
  }
}
