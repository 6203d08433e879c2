/**
 * `npm run test:without-clusterset`: the core stands without its wing. It copies the tree, deletes the four
 * clusterset folders and the doors' entries from the copy, and runs verify, the unit tests and the hub tests.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const wing = /(^|\/)clusterset\//;
const door = /(^|\/)wing\.ts$/;
/** Suites that are about both, such as the simulation: their files that import the wing go with it. */
const ofBoth = /^test\/(bench|cluster|e2e\/(console|deploy)|worlds\/(fuzz|simulation))\//;
/** About the pages, and about a bench, which are of both. */
const unitsOfBoth = /^test\/unit\/(docs|page-commands|reference|saturation)\.test\.ts$/;

const doors = 12;
/** Fewer tests would mean that suites are missing. */
const leastTests = 2_500;

/** Deletes the door's imports of the wing, and empties its lists. */
function closed(source: string): string {
  const withoutImports = source.replace(/^import [^;]*? from '(?:#\w+|\.)\/clusterset\/[^']*';\n/gm, '');
  return withoutImports.replace(/^(export const \w+: readonly [^=]*(?:=>[^=]*)*= )\[[^\]]*\];/gm, '$1[];');
}

async function copyWithoutWing(folder: string): Promise<void> {
  const list = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard'], {
    maxBuffer: 1 << 26,
  });
  const kept = withoutUsers(
    list.stdout.split('\n').filter((file) => existsSync(file) && !wing.test(file) && !unitsOfBoth.test(file)),
  );
  const closedDoors = kept.filter((file) => door.test(file));
  if (closedDoors.length !== doors)
    throw new Error(`${closedDoors.length} doors are there (${closedDoors.join(', ')}): ${doors} are known`);
  for (const file of kept) {
    const to = join(folder, file);
    await mkdir(dirname(to), { recursive: true });
    if (door.test(file)) await writeFile(to, checkedlyClosed(file, await readFile(file, 'utf8')));
    else await cp(file, to);
  }
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
}

function checkedlyClosed(file: string, source: string): string {
  const text = closed(source);
  const entries = [...text.matchAll(/^export const \w+: readonly .*$/gm)].map(([line]) => line);
  if (entries.length === 0 || text.includes('/clusterset/'))
    throw new Error(`${file} is no door: it imports the wing, and exports lists of its entries and no more`);
  return text;
}

/** Leaves out files of `ofBoth` that import the wing, or a file that does. */
function withoutUsers(files: readonly string[]): readonly string[] {
  const kept = new Set(files);
  const isUser = (file: string): boolean =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(#|\.\.?\/)([^']*\.ts)'/g)].some(
      ([, base, path]) => !kept.has(base === '#' ? `${path}` : join(dirname(file), `${base}${path}`)),
    );
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const file of kept) if (ofBoth.test(file) && file.endsWith('.ts') && isUser(file)) kept.delete(file);
  }
  return [...kept];
}

function run(folder: string, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(' ')} ended with ${code}`)),
    );
  });
}

async function runTests(folder: string): Promise<number> {
  const report = join(folder, 'tests.json');
  await run(folder, 'npx', [
    'vitest',
    'run',
    'test/unit',
    'test/hub',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile=${report}`,
  ]);
  const { numPassedTests } = JSON.parse(await readFile(report, 'utf8')) as {
    readonly numPassedTests: number;
  };
  if (numPassedTests < leastTests)
    throw new Error(`${numPassedTests} tests have run: at least ${leastTests} are there without the wing`);
  return numPassedTests;
}

const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-core-'));
try {
  await copyWithoutWing(folder);
  const ended = await Promise.allSettled([run(folder, 'npm', ['run', '-s', 'verify']), runTests(folder)]);
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  const [, tests] = ended;
  console.log(`without the wing: verify, and ${tests.status === 'fulfilled' ? tests.value : 0} tests`);
} catch (error) {
  console.error(`test:without-clusterset: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (!process.argv.includes('--keep')) await rm(folder, { recursive: true, force: true });
  else console.log(folder);
}
