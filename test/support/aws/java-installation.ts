import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '#test/support/control-plane/kubernetes-module.ts';
import { exists, onlyOnce } from '#test/support/only-once.ts';

const run = promisify(execFile);
const oldestJava = 17;

/**
 * Resolves to the folder with the jars (and native libraries) of `test/unit/contract/java/NAME.pom.xml`,
 * which Maven downloads if necessary. The folder is outside the tree, like the control plane. Throws an error
 * if Java 17 or newer, or Maven, is missing.
 */
export async function javaInstallation(name: string, say: (line: string) => void): Promise<string> {
  await checkJava();
  const pom = fileURLToPath(new URL(`../../unit/contract/java/${name}.pom.xml`, import.meta.url));
  const hash = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 16);
  const folder = join(cacheFolder, `${name}-${hash}`);
  return onlyOnce(folder, async () => {
    if (await exists(folder)) return folder;
    say(`downloading ${name} with Maven: ${folder}`);
    // Renamed when it is whole, so that a download that was broken off is not taken for one.
    const unfinished = await mkdtemp(`${folder}.`);
    await copyFile(pom, join(unfinished, 'pom.xml'));
    await maven(unfinished);
    await rename(join(unfinished, 'jars'), folder);
    await rm(unfinished, { recursive: true });
    return folder;
  });
}

async function checkJava(): Promise<void> {
  const said = await run('java', ['-version']).then(
    ({ stdout, stderr }) => stderr + stdout,
    (e: Error) => {
      throw new Error(
        `Java is missing: \`java -version\` does not work here (${e.message.trim()}); install a JDK of ${oldestJava} or newer`,
      );
    },
  );
  const major = Number(/version "(\d+)/.exec(said)?.[1]);
  if (!(major >= oldestJava))
    throw new Error(`Java is too old: ${said.split('\n')[0]}; ${oldestJava} or newer is needed`);
}

async function maven(folder: string): Promise<void> {
  const args = [
    '--batch-mode',
    '--quiet',
    'dependency:copy-dependencies',
    '-DincludeScope=runtime',
    '-DoutputDirectory=jars',
  ];
  await run('mvn', args, { cwd: folder, maxBuffer: 2 ** 24 }).catch(
    (e: Error & { stdout?: string; code?: unknown }) => {
      if (e.code === 'ENOENT')
        throw new Error(
          'Maven is missing: `mvn` is not on the PATH; it downloads the Java programs (Debian: apt-get install -y maven)',
        );
      throw new Error(
        `Maven could not download what ${folder}/pom.xml names:\n${(e.stdout || e.message).slice(-2_000)}`,
      );
    },
  );
}
