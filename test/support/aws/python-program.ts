import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '#test/support/control-plane/kubernetes-module.ts';
import { onlyOnce } from '#test/support/only-once.ts';

const run = promisify(execFile);

/** A program of PyPI, pinned. */
export interface PythonProgram {
  readonly name: string;
  readonly version: string;
}

/**
 * Returns the folder of a Python environment with the program in it, which is made if it does not exist. It
 * is outside of the tree, as the control plane is.
 */
export function pythonProgram(program: PythonProgram, say: (line: string) => void): Promise<string> {
  const folder = join(cacheFolder, `${program.name}-${program.version}`);
  return onlyOnce(folder, () => install(folder, program, say));
}

async function install(
  folder: string,
  { name, version }: PythonProgram,
  say: (line: string) => void,
): Promise<string> {
  if (await isWhole(folder, { name, version })) return folder;
  const python = await pythonVersion();
  say(`installing ${name} ${version} with ${python}: ${folder}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  await run('python3', ['-m', 'venv', folder]).catch((e: Error) => {
    throw new Error(
      `python3 -m venv does not work here (Debian: apt-get install python3-venv): ${e.message}`,
    );
  });
  await run(join(folder, 'bin/pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    `${name}==${version}`,
  ]);
  return folder;
}

/** Also false if the Python of the environment no longer exists. */
const isWhole = (folder: string, { name, version }: PythonProgram): Promise<boolean> =>
  run(join(folder, 'bin/python'), [
    '-c',
    `import importlib.metadata as m; assert m.version("${name}") == "${version}"`,
  ]).then(
    () => true,
    () => false,
  );

async function pythonVersion(): Promise<string> {
  try {
    const { stdout } = await run('python3', [
      '-c',
      'import sys; assert sys.version_info >= (3, 10), sys.version; print("Python", sys.version.split()[0])',
    ]);
    return stdout.trim();
  } catch (e) {
    throw new Error(
      `the local cloud runs on Python 3.10 or newer, and \`python3\` does not work here (${(e as Error).message.trim()})`,
    );
  }
}
