import { readdir, readFile } from 'node:fs/promises';
import { type ChurnLoad, runChurn } from '#test/support/control-plane/churn.ts';
import { startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { startLocalRun } from '#test/support/local-run.ts';

/**
 * npm run relay-memory measures the relay's memory with 20,000 pods on a real API server: first while the
 * pods are created, then after a restart, when it lists them all. Readiness changes follow each time. Linux
 * only.
 */
const load: ChurnLoad = { services: 200, pods: 100, rate: 20, seconds: 30, clean: false };
const limit = 160;

const controlPlane = await startControlPlane({
  controllers: 'namespace-controller,garbage-collector-controller',
});
const peaks: number[] = [];
try {
  for (const phase of ['while the pods are made', 'started when they are there']) {
    const run = startLocalRun([
      '--kubeconfig',
      controlPlane.kubeconfig,
      '--mode',
      'active',
      '--controllers-off',
    ]);
    try {
      await run.line(/^ready/, 120_000);
      const { flips, endpoints, slices } = await runChurn(controlPlane.binary, controlPlane.kubeconfig, load);
      const { peak, now } = await relayMemory(run.pid);
      peaks.push(peak);
      console.log(
        `${load.services * load.pods} pods, ${phase}: relay ${now} MB, at most ${peak} MB (${flips} flips, lost ${endpoints.lost + slices.lost})`,
      );
    } finally {
      await run.stop();
    }
  }
} finally {
  await controlPlane.stop();
}
if (peaks.some((peak) => peak >= limit)) {
  console.error(`the relay needed more than ${limit} MB`);
  process.exitCode = 1;
}

/** Resident memory in megabytes, as the kernel counts it, of the relay among the processes of a group. */
async function relayMemory(group: number): Promise<{ readonly now: number; readonly peak: number }> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const [stat, command] = await Promise.all(
      [`/proc/${pid}/stat`, `/proc/${pid}/cmdline`].map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    // The fifth field; the second is a name in parentheses that may hold blanks.
    const groupOf = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
    if (groupOf !== group || !/\0[^\0]*relay[^\0]*\.main\.[tj]s/.test(command ?? '')) continue;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const megabytes = (field: string): number =>
      Math.round(Number(status.match(new RegExp(`${field}:\\s+(\\d+) kB`))?.[1]) / 1024);
    return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
  }
  throw new Error('there is no relay among the processes of npm start');
}
