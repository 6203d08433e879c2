/**
 * npm run test:packets [-- --all] [-- FILTER…]: builds the programs, and runs the tests in network, mount and
 * process namespaces of their own. The kernel removes all of it when the run ends, however it ends.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { controlPlaneBinary, nodeProgramsBinary } from '#test/support/control-plane/control-plane-binary.ts';
import { requirementsMissing } from './requirements.ts';

const missing = await requirementsMissing();
if (missing.length > 0) {
  for (const line of missing) console.error(`test:packets: ${line}`);
  process.exit(1);
}
// The namespace has no way to a module proxy.
await controlPlaneBinary();
await nodeProgramsBinary();

const words = process.argv.slice(2);
const all = words.includes('--all');
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-packets-'));
const vitest = [
  process.execPath,
  join(root, 'node_modules/vitest/vitest.mjs'),
  'run',
  '--config',
  'test/cluster/packets/vitest.config.ts',
];
const filters = words.filter((word) => word !== '--all');

// The shell is the first process of its namespace, and reaps those whose parents have ended.
const inside = 'mount -t tmpfs none /run/netns && ip link set lo up && "$@"; exit $?';
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const run = spawn('unshare', [...namespaces, 'sh', '-c', inside, 'sh', ...vitest, ...filters], {
  cwd: root,
  // Files that are named by process ids belong to this run.
  env: { ...process.env, TMPDIR: folder, PACKETS: all ? 'all' : 'short' },
  stdio: 'inherit',
});
// Ctrl-C reaches all processes of the terminal. The run has its time to end; unshare then takes the rest with
// it.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => setTimeout(() => run.kill('SIGKILL'), 10_000).unref());
process.once('exit', () => run.kill('SIGKILL'));
const code = await new Promise<number>((resolve) => run.once('exit', (status) => resolve(status ?? 1)));
await rm(folder, { recursive: true, force: true });
process.exit(code);
