/**
 * `npm run bench`: medians of one decision of each controller at 10, 1,000 and 5,000 pods, how they grow,
 * and, where Go is installed, upstream's own code in turn with ours on the same machine. It never fails for
 * being slow.
 */
import { performance } from 'node:perf_hooks';
import { type Change, decideCase } from './decide-cases.ts';
import { median } from './median.ts';
import { upstreamBench } from './upstream.ts';

const sizes = [10, 1000, 5000];
const changes: readonly Change[] = ['none', 'pod'];
const rounds = 3;
const runsPerRound = 30;
const warmUps = 30;

const samples = new Map<string, number[]>();
const note = (name: string, ms: number): void => void samples.set(name, [...(samples.get(name) ?? []), ms]);
const medianOf = (name: string): number => median(samples.get(name) ?? []);
const best = (name: string): number => Math.min(...(samples.get(name) ?? []));

const cases = sizes.flatMap((size) => changes.map((change) => decideCase(size, change)));
const upstream = await upstreamBench((line) => console.log(line));
try {
  for (let round = 0; round < rounds; round++) {
    for (const c of cases) {
      if (round === 0) for (let i = 0; i < warmUps; i++) both(c);
      for (let i = 0; i < runsPerRound; i++) {
        const { endpoints, slices } = both(c);
        note(`endpoints/${c.change}/${c.pods}`, endpoints);
        note(`slices/${c.change}/${c.pods}`, slices);
        note(`sum/${c.change}/${c.pods}`, endpoints + slices);
      }
    }
    for (const [name, ms] of (await upstream?.round()) ?? []) note(`upstream ${name}`, ms);
  }
} finally {
  await upstream?.close();
}

for (const change of changes) {
  console.log(`\nours, ${change === 'none' ? 'no change' : 'one pod changed'}: medians in ms`);
  console.table(Object.fromEntries(sizes.map((size) => [`${size} pods`, row(change, size)])));
  // Medians also grow with other work of the machine, more so for longer runs.
  const growth = best(`sum/${change}/5000`) / best(`sum/${change}/1000`);
  console.log(
    `growth of the sum's best time from 1,000 to 5,000 pods: ${growth.toFixed(1)} times (5 is linear)`,
  );
}
if (upstream) {
  console.log('\nupstream and ours in turn, medians in ms; ours is the sum of both controllers');
  for (const change of changes) {
    for (const size of sizes) {
      const [slices, repack, ours] = [
        medianOf(`upstream Slices/${change}/${size}`),
        medianOf(`upstream Repack/none/${size}`),
        medianOf(`sum/${change}/${size}`),
      ];
      const text = `slices ${slices.toFixed(2)} + RepackSubsets ${repack.toFixed(2)}, ours ${ours.toFixed(2)}`;
      console.log(
        `${size} pods, ${change === 'none' ? 'no change' : 'one pod changed'}: ratio upstream / ours ${((slices + repack) / ours).toFixed(1)} (${text})`,
      );
    }
  }
} else {
  console.log('\nGo is not installed: upstream was not timed');
}

function both(c: (typeof cases)[number]): { readonly endpoints: number; readonly slices: number } {
  const start = performance.now();
  c.endpoints();
  const between = performance.now();
  c.slices();
  return { endpoints: between - start, slices: performance.now() - between };
}

function row(change: Change, size: number): object {
  const ms = (name: string) => Number(medianOf(`${name}/${change}/${size}`).toFixed(3));
  return { endpoints: ms('endpoints'), slices: ms('slices'), sum: ms('sum') };
}
