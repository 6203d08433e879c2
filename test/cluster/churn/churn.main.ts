import { cpus } from 'node:os';
import type { ChurnLoad, ChurnResult } from '#test/support/control-plane/churn.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import { headings, measureAgainst } from './against.ts';
import { costCells } from './cost.ts';
import { type Measured, measure } from './measure.ts';
import { flagsOfOurs, kubeControllerManager, ours, type WriterKind } from './writers.ts';

/**
 * npm run churn [-- --only kcm|kcm-1000|ours] [--rate 20|100|300] [--seconds N] [--warm-up N]
 *   [--profile DIR] [--against COMMIT [--against COMMIT] [--rounds N]]
 *
 * Measures how long a change of a pod's readiness takes to show in Endpoints and slices, and how much processor
 * time it takes. The writers are kube-controller-manager with its defaults, with 1,000 requests a second, and
 * ours, in turn. Each has a fresh control plane of this machine.
 * The same load comes first for --warm-up seconds (0: none). --profile writes a processor profile of each
 * process of ours into DIR. --against, once or more, compares this checkout with other commits instead, in
 * turn, cold and warm.
 */
const { values } = programArguments({
  options: {
    only: { type: 'string' },
    rate: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    'warm-up': { type: 'string', default: '10' },
    profile: { type: 'string' },
    against: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '2' },
  },
});
const seconds = numberOf('seconds');
const warmUpSeconds = numberOf('warm-up');

const loads: readonly ChurnLoad[] = [
  { services: 20, pods: 10, rate: 20, seconds },
  { services: 50, pods: 20, rate: 100, seconds },
  { services: 100, pods: 20, rate: 300, seconds },
].filter(({ rate }) => values.rate === undefined || Number(values.rate) === rate);
if (loads.length === 0) throw new Error(`--rate ${values.rate}: 20, 100 or 300 flips a second`);

const writers: { readonly [who: string]: WriterKind } = {
  kcm: kubeControllerManager([]),
  'kcm-1000': kubeControllerManager(['--kube-api-qps=1000', '--kube-api-burst=1000']),
  ours: ours([...flagsOfOurs, ...(values.profile === undefined ? [] : ['--profile', values.profile])]),
};

function numberOf(option: 'seconds' | 'warm-up' | 'rounds'): number {
  const given = Number(values[option]);
  if (!(given >= 0)) throw new Error(`--${option} ${values[option]}: a number, 0 or more`);
  return given;
}

function row(who: string, load: ChurnLoad, { result: r, cost }: Measured): string {
  const views = [r.endpoints, r.slices].flatMap((v) => [
    `${v.p50_ms} / ${v.p99_ms}`,
    v.max_ms,
    v.lost,
    v.writes,
  ]);
  return `| ${load.services} × ${load.pods}, ${load.rate}/s | ${who} | ${r.flips} | ${[...views, ...costCells(cost)].join(' | ')} |`;
}

console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}; milliseconds`,
);
if (values.against === undefined) await compareWriters();
else {
  for (const line of headings) console.log(line);
  await measureAgainst(loads, {
    commits: values.against,
    rounds: numberOf('rounds'),
    warmUpSeconds,
    say: (line) => console.log(line),
  });
}

async function compareWriters(): Promise<void> {
  const complaints: string[] = [];
  console.log(
    '| services × pods, flips | writer | flips | Endpoints p50 / p99 | max | lost | writes | slices p50 / p99 | max | lost | writes | processor ms a flip | by process | runs of 100 flips | read / write units a flip |',
  );
  console.log(`|${' --- |'.repeat(15)}`);
  for (const load of loads) {
    const results: { [who: string]: ChurnResult } = {};
    for (const who of values.only === undefined ? Object.keys(writers) : [values.only]) {
      const writer = writers[who];
      if (!writer) throw new Error(`--only ${who}: ${Object.keys(writers).join(', ')}`);
      const measured = await measure(writer, load, warmUpSeconds);
      results[who] = measured.result;
      console.log(row(who, load, measured));
    }
    complaints.push(...judge(load, results['ours'], results['kcm']));
  }
  for (const complaint of complaints) console.error(complaint);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}

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
