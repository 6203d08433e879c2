/**
 * npm run simulate -- --seeds N --from S [--jobs N] [--trace] [--table local|http://127.0.0.1:PORT]: the last
 * line is "N passed, N failed".
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { progress } from '#infra/cli/terminal/progress.ts';
import { startDynamoDbLocal } from '#test/support/aws/java-server.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { type Outcome, simulate } from './simulate.ts';
import { onServer } from './world/simulated-table.ts';
import type { WorldOptions } from './world/world.ts';

const { values } = programArguments({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    /** The whole trace, also of what passes. */
    trace: { type: 'boolean', default: false },
    /**
     * Address of a server with DynamoDB's protocol. The table is then on the server, by the driver of
     * production, instead of in memory. `local` starts Amazon's DynamoDB Local.
     */
    table: { type: 'string' },
  },
});
const [seeds, from, jobs] = [Number(values.seeds), Number(values.from), Number(values.jobs)];
const server = values.table === 'local' ? await startDynamoDbLocal() : undefined;
const endpoint = server?.endpoint ?? values.table;
const startedAt = performance.now();
const [passed, failed] = jobs > 1 ? await inProcesses() : await here();
await server?.stop();
console.log(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function run(options: WorldOptions): Promise<Outcome> {
  if (endpoint === undefined) return simulate(options);
  const { table, drain, drop } = await onServer(endpoint, `seed-${options.seed}-${Date.now()}`);
  try {
    return await simulate({ ...options, table, drain });
  } finally {
    await drop();
  }
}

async function here(): Promise<readonly [number, number]> {
  let wrong = 0;
  const shown = progress('simulated');
  for (let seed = from; seed < from + seeds; seed++) {
    const { failures } = await run({ seed });
    if (failures.length > 0) wrong++;
    if (failures.length > 0 || values.trace) shown.clear();
    if (failures.length > 0 || values.trace) await replay(seed, failures);
    shown.update(seed - from + 1, seeds, `worlds, ${wrong} failed`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  shown.end();
  return [seeds - wrong, wrong];
}

/** The same world again, this time in words. */
async function replay(seed: number, failures: readonly string[]): Promise<void> {
  const lines: string[] = [];
  const again = await run({ seed, trace: (line) => lines.push(line) });
  if (seeds === 1 || values.trace) for (const line of lines) console.log(line);
  for (const failure of failures) console.log(`seed ${seed}: ${failure}`);
  if (failures.length > 0 && seeds > 1)
    console.log(
      `seed ${seed} failed; its ${lines.length} lines of trace: npm run simulate -- --seeds 1 --from ${seed}`,
    );
  if (JSON.stringify(again.failures) !== JSON.stringify(failures))
    throw new Error(`seed ${seed} did not replay exactly`);
}

async function inProcesses(): Promise<readonly [number, number]> {
  const share = Math.ceil(seeds / jobs);
  const results = await Promise.all(
    Array.from({ length: jobs }, (_, i) => {
      const [first, count] = [from + i * share, Math.min(share, seeds - i * share)];
      const table = endpoint === undefined ? [] : ['--table', endpoint];
      const child = spawn(
        process.execPath,
        [import.meta.filename, '--seeds', String(count), '--from', String(first), ...table],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      let last = '0 passed, 0 failed';
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (/^\d+ passed, \d+ failed$/.test(line)) last = line;
        else if (!/^[\d.]+ s$/.test(line)) console.log(line);
      });
      return new Promise<readonly number[]>((resolve) =>
        child.once('close', () => resolve(last.match(/\d+/g)?.map(Number) ?? [])),
      );
    }),
  );
  return [results.reduce((n, [p = 0]) => n + p, 0), results.reduce((n, [, f = 0]) => n + f, 0)];
}
