/** The churn of this checkout and of other commits', in turn on the same machine. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ChurnLoad } from '#test/support/control-plane/churn.ts';
import { type Measured, measure } from './measure.ts';
import { flagsOfOurs, ours, type WriterKind } from './writers.ts';

export interface Turns {
  /** As git names them. */
  readonly commits: readonly string[];
  readonly rounds: number;
  readonly warmUpSeconds: number;
  readonly say: (line: string) => void;
}

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Measures each load in rounds, cold and after a warm-up: this checkout and the commits', whose order changes
 * from round to round. Says a line for each measurement, and for each load the medians with their ranges and
 * the ratio of this checkout to each commit.
 */
export async function measureAgainst(loads: readonly ChurnLoad[], turns: Turns): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-against-'));
  try {
    const kinds = new Map([['this', ours(flagsOfOurs)]]);
    for (const commit of turns.commits) {
      const checkout = join(folder, commit.replaceAll('/', '-'));
      await checkOut(commit, checkout);
      kinds.set(commit, ours(await knownFlags(checkout), checkout));
    }
    for (const load of loads)
      for (const seconds of [0, turns.warmUpSeconds]) await inTurn(kinds, load, seconds, turns);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The commit's own dependencies are installed too. */
async function checkOut(commit: string, folder: string): Promise<void> {
  await run('git', ['-C', root, 'rev-parse', '--verify', '--quiet', `${commit}^{commit}`]).catch(() => {
    throw new Error(`--against ${commit}: git knows no such commit`);
  });
  await run('git', ['clone', '--quiet', '--no-checkout', root, folder]);
  await run('git', ['-C', folder, 'checkout', '--quiet', '--detach', commit]);
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
}

async function knownFlags(folder: string): Promise<readonly string[]> {
  const { stdout } = await run('npm', ['start', '--', '--help'], { cwd: folder });
  return flagsOfOurs.filter((flag) => !flag.startsWith('--') || stdout.includes(flag));
}

async function inTurn(
  kinds: ReadonlyMap<string, WriterKind>,
  load: ChurnLoad,
  warmUpSeconds: number,
  { rounds, say }: Turns,
): Promise<void> {
  const state = warmUpSeconds > 0 ? `after ${warmUpSeconds} s of the same load` : 'cold';
  const all = new Map<string, Measured[]>([...kinds].map(([who]) => [who, []]));
  for (let round = 1; round <= rounds; round++) {
    const order = [...kinds];
    if (round % 2 === 0) order.reverse();
    for (const [who, kind] of order) {
      const measured = await measure(kind, load, warmUpSeconds);
      all.get(who)?.push(measured);
      const cells = figures.map(({ of, digits }) => of(measured).toFixed(digits)).join(' | ');
      say(`| ${load.rate}/s, ${state} | ${who} | ${round} | ${cells} |`);
    }
  }
  const [mine, ...others] = [...all];
  if (!mine) return;
  for (const [who, measured] of all)
    say(
      `| ${load.rate}/s, ${state} | ${who} | median (range) | ${figures.map((f) => rangeOf(measured, f)).join(' | ')} |`,
    );
  for (const [who, measured] of others) {
    const ratios = figures.map(({ of }) => {
      const [a, b] = [median(mine[1].map(of)), median(measured.map(of))];
      return b > 0 ? (a / b).toFixed(2) : '';
    });
    say(`| ${load.rate}/s, ${state} | ${mine[0]} / ${who} | ratio | ${ratios.join(' | ')} |`);
  }
}

interface Figure {
  readonly title: string;
  readonly digits: number;
  readonly of: (measured: Measured) => number;
}

/** Milliseconds of processor that a process takes for a flip. */
const msOf =
  (process: string) =>
  ({ cost }: Measured): number =>
    cost.byProcess.find(([name]) => name === process)?.[1] ?? 0;

const figures: readonly Figure[] = [
  { title: 'slices p50 ms', digits: 0, of: ({ result }) => result.slices.p50_ms },
  { title: 'slices p99 ms', digits: 0, of: ({ result }) => result.slices.p99_ms },
  { title: 'latest ms', digits: 0, of: ({ result }) => result.slices.max_ms },
  { title: 'Endpoints p50 ms', digits: 0, of: ({ result }) => result.endpoints.p50_ms },
  { title: 'Endpoints p99 ms', digits: 0, of: ({ result }) => result.endpoints.p99_ms },
  { title: 'flips', digits: 0, of: ({ result }) => result.flips },
  { title: 'lost', digits: 0, of: ({ result }) => result.slices.lost + result.endpoints.lost },
  { title: 'writes', digits: 0, of: ({ result }) => result.slices.writes + result.endpoints.writes },
  { title: 'processor ms a flip', digits: 1, of: ({ cost }) => cost.processorMs },
  { title: 'of which the relay', digits: 1, of: msOf('relay') },
  { title: 'table ms a flip', digits: 1, of: msOf('table') },
  { title: 'queues ms a flip', digits: 1, of: msOf('queues') },
  { title: 'runs of 100 flips', digits: 0, of: ({ cost }) => 100 * (cost.runs ?? 0) },
  { title: 'read units a flip', digits: 1, of: ({ cost }) => cost.readUnits ?? 0 },
  { title: 'write units a flip', digits: 1, of: ({ cost }) => cost.writeUnits ?? 0 },
];

export const headings: readonly string[] = [
  `| flips | checkout | round | ${figures.map(({ title }) => title).join(' | ')} |`,
  `|${' --- |'.repeat(figures.length + 3)}`,
];

function rangeOf(measured: readonly Measured[], { of, digits }: Figure): string {
  const values = measured.map(of);
  const [from, middle, to] = [Math.min(...values), median(values), Math.max(...values)];
  return from === to
    ? middle.toFixed(digits)
    : `${middle.toFixed(digits)} (${from.toFixed(digits)} to ${to.toFixed(digits)})`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2;
}
