/** Upstream's own code, timed by Go's benchmark tool: test/cluster/control-plane/bench. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface UpstreamBench {
  /** One more round: the benchmark's name, such as `Slices/none/1000`, and its milliseconds. */
  readonly round: () => Promise<ReadonlyMap<string, number>>;
  readonly close: () => Promise<void>;
}

const run = promisify(execFile);
const module = fileURLToPath(new URL('../cluster/control-plane/', import.meta.url));

/** Undefined where Go is not installed. Compiled once, so that a round is nothing but measuring. */
export async function upstreamBench(say: (line: string) => void): Promise<UpstreamBench | undefined> {
  try {
    await run('go', ['version'], { cwd: module });
  } catch {
    return undefined;
  }
  say('compiling upstream (a minute the first time)');
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-bench-'));
  const binary = join(folder, 'bench.test');
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    await run('go', ['test', '-c', '-o', binary, './bench'], { cwd: module });
  } catch (e) {
    await close();
    throw e;
  }
  return {
    round: async () =>
      parse((await run(binary, ['-test.run', '^$', '-test.bench', '.', '-test.benchtime', '10x'])).stdout),
    close,
  };
}

/** Lines such as `BenchmarkSlices/none/1000-2   10   7123456 ns/op`. */
function parse(output: string): ReadonlyMap<string, number> {
  return new Map(
    [...output.matchAll(/^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns\/op/gm)].map(([, name = '', ns]) => [
      name,
      Number(ns) / 1e6,
    ]),
  );
}
