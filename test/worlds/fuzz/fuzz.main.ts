/**
 * npm run fuzz -- --minutes N [--door NAME] [--seed S] [--path P]: the doors share the minutes, and each one
 * runs seed after seed. A failure prints what failed, and the command that repeats it.
 */
import { randomInt } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { programArguments } from '#test/support/program-arguments.ts';
import type { Door } from './door.ts';
import { doors } from './doors.ts';
import { fuzzDoor } from './fuzz-door.ts';

const { values } = programArguments({
  options: {
    minutes: { type: 'string', default: '1' },
    door: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
  },
});
const chosen = doors.filter(({ name }) => values.door === undefined || name === values.door);
if (chosen.length === 0)
  exit(`no door ${values.door}: there are ${doors.map(({ name }) => name).join(', ')}`);
const [minutes, firstSeed] = [Number(values.minutes), Number(values.seed ?? randomInt(2 ** 31))];
if (!(minutes > 0)) exit(`--minutes ${values.minutes}: a number above 0 is needed`);
if (!Number.isInteger(firstSeed)) exit(`--seed ${values.seed}: a whole number is needed`);
if (values.path !== undefined && (values.door === undefined || values.seed === undefined))
  exit('--path needs --door and --seed');

/** A thread of its own notices a case that never ends: the thread that runs it can do nothing then. */
const watch = new Worker(new URL('./watch.ts', import.meta.url), { workerData: { maxMs: 60_000 } });
watch.unref();
let failures = 0;
for (const door of chosen) if (!(await run(door, (minutes * 60_000) / chosen.length))) failures++;
console.log(`${chosen.length - failures} doors passed, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);

/** Until the first failure of the door. */
async function run(door: Door, ms: number): Promise<boolean> {
  const untilMs = performance.now() + ms;
  let cases = 0;
  for (let seed = firstSeed; cases === 0 || performance.now() < untilMs; seed++) {
    const first = cases;
    const onCase = (): void => watch.postMessage(again(door.name, seed, String(cases++ - first)));
    const failure = await fuzzDoor(door, {
      seed,
      onCase,
      ...(values.path !== undefined && { path: values.path }),
    });
    if (failure) {
      console.log(
        `${door.name} failed: ${failure.error}\nwith ${failure.value}\n${again(door.name, failure.seed, failure.path)}`,
      );
      return false;
    }
    if (values.path !== undefined) break;
  }
  console.log(`${door.name}: ${cases} cases from seed ${firstSeed}`);
  return true;
}

function again(name: string, seed: number, path: string): string {
  return `npm run fuzz -- --door ${name} --seed ${seed} --path ${path}`;
}

function exit(problem: string): never {
  console.error(problem);
  process.exit(2);
}
