import { cpus } from 'node:os';
import { type ChurnLoad, type ChurnResult, runChurn } from '#test/support/churn.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { costCells, type Work, workOfLocalRun, workOfProcess } from './churn-cost.ts';

/**
 * npm run churn [-- --only kcm|kcm-1000|ours] [--rate 20|100|300] [--seconds N] [--warm-up N] [--profile
 * DIR]: how long a change of a pod's readiness takes to show in Endpoints and slices, and how much processor
 * time a change takes. The writers are kube-controller-manager with its defaults, with 1,000 requests a
 * second, and ours, in turn. Each has a fresh control plane of this machine. The same load comes first for
 * --warm-up seconds (0: none). --profile writes a processor profile of each process of ours into DIR.
 */
const { values } = programArguments({
  options: {
    only: { type: 'string' },
    rate: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    'warm-up': { type: 'string', default: '10' },
    profile: { type: 'string' },
  },
});
const seconds = secondsOf('seconds');
const warmUpSeconds = secondsOf('warm-up');

const loads: readonly ChurnLoad[] = [
  { services: 20, pods: 10, rate: 20, seconds },
  { services: 50, pods: 20, rate: 100, seconds },
  { services: 100, pods: 20, rate: 300, seconds },
].filter(({ rate }) => values.rate === undefined || Number(values.rate) === rate);
if (loads.length === 0) throw new Error(`--rate ${values.rate}: 20, 100 or 300 flips a second`);
const others = 'namespace-controller,garbage-collector-controller';

interface Writer {
  /** Output of the run, shown if flips are lost. */
  readonly lines: readonly string[];
  work(): Promise<Work>;
  stop(): Promise<unknown>;
}
interface WriterKind {
  readonly controllers: string;
  readonly flags?: readonly string[];
  start(controlPlane: ControlPlane): Promise<Writer>;
}

const kcm = (flags: readonly string[]): WriterKind => ({
  controllers: `endpoints-controller,endpointslice-controller,endpointslice-mirroring-controller,${others}`,
  flags,
  start: async ({ controllerManager }) => ({
    lines: [],
    work: async () => workOfProcess('kcm', controllerManager.pid),
    stop: async () => {},
  }),
});

const writers: { readonly [who: string]: WriterKind } = {
  kcm: kcm([]),
  'kcm-1000': kcm(['--kube-api-qps=1000', '--kube-api-burst=1000']),
  ours: {
    controllers: others,
    async start({ kubeconfig }) {
      const profile = values.profile === undefined ? [] : ['--profile', values.profile];
      const run = startLocalRun([
        '--kubeconfig',
        kubeconfig,
        '--mode',
        'active',
        '--controllers-off',
        ...profile,
      ]);
      try {
        const [, console = ''] = await run.line(/console at (http:\S+)/);
        await run.line(/^ready/);
        return { lines: run.lines, work: () => workOfLocalRun(run.pid, console), stop: () => run.stop() };
      } catch (e) {
        await run.stop();
        throw e;
      }
    },
  },
};

interface Measured {
  readonly result: ChurnResult;
  readonly cost: readonly string[];
}

async function measure(who: string, load: ChurnLoad): Promise<Measured> {
  const writer = writers[who];
  if (!writer) throw new Error(`--only ${who}: ${Object.keys(writers).join(', ')}`);
  const controlPlane = await startControlPlane({
    controllers: writer.controllers,
    controllerManagerFlags: writer.flags ?? [],
  });
  try {
    const running = await writer.start(controlPlane);
    try {
      // A controller runs for months; a compiler that runs beside it is busy in its first half minute only.
      if (warmUpSeconds > 0)
        await runChurn(controlPlane.binary, controlPlane.kubeconfig, {
          ...load,
          seconds: warmUpSeconds,
          namespace: 'warm-up',
        });
      // Making and deleting the services is no part of a flip's work, so the same load without flips is
      // measured first.
      const works = [await running.work()];
      await runChurn(controlPlane.binary, controlPlane.kubeconfig, { ...load, rate: 0, namespace: 'fill' });
      works.push(await running.work());
      const result = await runChurn(controlPlane.binary, controlPlane.kubeconfig, load);
      works.push(await running.work());
      const cost = costCells(works, result.flips);
      if (result.endpoints.lost + result.slices.lost > 0) console.error(running.lines.slice(-40).join('\n'));
      return { result, cost };
    } finally {
      await running.stop();
    }
  } finally {
    await controlPlane.stop();
  }
}

function secondsOf(option: 'seconds' | 'warm-up'): number {
  const given = Number(values[option]);
  if (!(given >= 0)) throw new Error(`--${option} ${values[option]}: a number of seconds`);
  return given;
}

function row(who: string, load: ChurnLoad, { result: r, cost }: Measured): string {
  const views = [r.endpoints, r.slices].flatMap((v) => [
    `${v.p50_ms} / ${v.p99_ms}`,
    v.max_ms,
    v.lost,
    v.writes,
  ]);
  return `| ${load.services} × ${load.pods}, ${load.rate}/s | ${who} | ${r.flips} | ${[...views, ...cost].join(' | ')} |`;
}

const complaints: string[] = [];
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}; milliseconds`,
);
console.log(
  '| services × pods, flips | writer | flips | Endpoints p50 / p99 | max | lost | writes | slices p50 / p99 | max | lost | writes | processor ms a flip | by process | runs of 100 flips | read / write units a flip |',
);
console.log(`|${' --- |'.repeat(15)}`);
for (const load of loads) {
  const results: { [who: string]: ChurnResult } = {};
  for (const who of values.only === undefined ? Object.keys(writers) : [values.only]) {
    const measured = await measure(who, load);
    results[who] = measured.result;
    console.log(row(who, load, measured));
  }
  complaints.push(...judge(load, results['ours'], results['kcm']));
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length > 0 ? 1 : 0;

function judge(
  { services, pods, rate }: ChurnLoad,
  ours: ChurnResult | undefined,
  kcm: ChurnResult | undefined,
): readonly string[] {
  const at = `${services} × ${pods} at ${rate}/s`;
  if (!ours) return [];
  return (['endpoints', 'slices'] as const).flatMap((kind) => [
    ...(ours[kind].lost > 0 ? [`${at}: ${ours[kind].lost} flips were never seen in ${kind}`] : []),
    // Below that rate kube-controller-manager's own limit of 20 requests a second does not show.
    ...(rate < 100 || !kcm
      ? []
      : (['p50_ms', 'p99_ms'] as const)
          .filter((q) => ours[kind][q] >= kcm[kind][q])
          .map(
            (q) =>
              `${at}: ${q} of ${kind} is ${ours[kind][q]}, and ${kcm[kind][q]} with kube-controller-manager`,
          )),
  ]);
}
