/**
 * `node test/worlds/simulation/mutants/mutant-seeds.main.ts [MUTANT]`: for each mutant the seeds that find it
 * at the least cost, for mutants.ts.
 */
import { simulate } from '#test/worlds/simulation/simulate.ts';
import { mutants } from './mutants.ts';

const [wanted = ''] = process.argv.slice(2);
const [maxSeeds, enough] = [300, 4];

for (const mutant of mutants.filter((m) => m.name.includes(wanted))) {
  const found: { seed: number; ms: number }[] = [];
  for (let seed = 1; seed <= maxSeeds && found.length < enough; seed++) {
    const before = process.cpuUsage();
    const { failures } = await simulate({ seed, mutant });
    const { user, system } = process.cpuUsage(before);
    if (failures.length > 0) found.push({ seed, ms: Math.round((user + system) / 1000) });
  }
  const cheapest = found.sort((a, b) => a.ms - b.ms).slice(0, 3);
  console.log(
    `seeds: [${cheapest.map((f) => f.seed).join(', ')}], ${cheapest[0]?.ms ?? '-'} ms  ${mutant.name}`,
  );
}
