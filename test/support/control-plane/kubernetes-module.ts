/** Go modules that contain the programs of another Kubernetes version. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exists, onlyOnce } from '#test/support/only-once.ts';

export const controlPlaneSources = fileURLToPath(new URL('../../cluster/control-plane/', import.meta.url));
export const cacheFolder = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'fleet-endpoints',
);

/** The version whose behaviour the hub follows: the one of test/cluster/control-plane/go.mod. */
export async function followedVersion(): Promise<string> {
  const [, version] =
    /^\tk8s\.io\/kubernetes (v\S+)$/m.exec(await readFile(join(controlPlaneSources, 'go.mod'), 'utf8')) ?? [];
  if (!version) throw new Error('test/cluster/control-plane/go.mod requires no k8s.io/kubernetes');
  return version;
}

/** Throws if `text` is no release of Kubernetes, such as v1.38.0. */
export function assertRelease(text: string): void {
  if (!/^v1\.\d{1,3}\.\d{1,3}(-(alpha|beta|rc)\.\d+)?$/.test(text))
    throw new Error(`${JSON.stringify(text)} is no release of Kubernetes: v1.MINOR.PATCH is needed`);
}

export const kubernetesFolder = (version: string): string => join(cacheFolder, `kubernetes-${version}`);

/**
 * Returns the folder of a Go module with main.go and record/ of test/cluster/control-plane, for a Kubernetes
 * version. Throws if the module proxy lacks the version.
 */
export async function kubernetesModule(version: string): Promise<string> {
  assertRelease(version);
  const folder = kubernetesFolder(version);
  return onlyOnce(folder, async () => {
    if (await exists(join(folder, 'go.sum'))) {
      await copySources(folder);
      return folder;
    }
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await copySources(unfinished);
    await writeFile(join(unfinished, 'go.mod'), await goMod(version));
    await go(['mod', 'tidy'], unfinished);
    await rm(folder, { recursive: true, force: true });
    await rename(unfinished, folder);
    return folder;
  });
}

async function copySources(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const source of ['main.go', 'record'])
    await cp(join(controlPlaneSources, source), join(folder, source), { recursive: true });
}

/**
 * k8s.io/kubernetes requires its staging modules as v0.0.0: each of them is replaced by its own release of
 * the same version. The sources are Go of test/cluster/control-plane/go.mod, which is newer than that of an
 * older version; `go mod tidy` raises it to that of a newer one.
 */
async function goMod(version: string): Promise<string> {
  const { GoMod } = JSON.parse(
    await go(['mod', 'download', '-json', `k8s.io/kubernetes@${version}`], controlPlaneSources),
  ) as {
    readonly GoMod: string;
  };
  const text = await readFile(GoMod, 'utf8');
  const staging = new Set(
    [...text.matchAll(/^\t(k8s\.io\/\S+)(?: v0\.0\.0$| => \.\/staging\/)/gm)].map(
      ([, path]) => path as string,
    ),
  );
  const release = version.replace(/^v1\./, 'v0.');
  const [goVersion] = /^go \S+$/m.exec(await readFile(join(controlPlaneSources, 'go.mod'), 'utf8')) ?? [];
  return [
    `module fleet-endpoints/test/kubernetes`,
    goVersion,
    `require k8s.io/kubernetes ${version}`,
    `replace (\n${[...staging].map((path) => `\t${path} => ${path} ${release}`).join('\n')}\n)`,
    '',
  ].join('\n\n');
}

/** Go fetches the toolchain that a module asks for if the installed one is older, whatever the machine's own setting. */
export const goEnvironment: NodeJS.ProcessEnv = { ...process.env, GOTOOLCHAIN: 'auto' };

/** Returns the version of Go that works in the folder, such as go1.27.0, with that of the machine if it is older. */
export async function goVersion(cwd: string): Promise<string> {
  try {
    const versionIn = async (folder: string): Promise<string> =>
      (await go(['env', 'GOVERSION'], folder)).trim();
    const [used, installed] = [await versionIn(cwd), await versionIn(tmpdir())];
    return used === installed ? used : `${used}, which its module asks for (${installed} is installed)`;
  } catch (e) {
    throw new Error(
      `the tests' programs are built with Go, and \`go env GOVERSION\` does not work here (${(e as Error).message}); see https://go.dev/dl`,
    );
  }
}

/** Runs go; the answer is its standard output. */
export async function go(args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, maxBuffer: 64 << 20, env: { ...goEnvironment, GOFLAGS: '-mod=mod' } };
  const { stdout } = await promisify(execFile)('go', [...args], options).catch(
    (cause: Error & { readonly stdout?: string; readonly stderr?: string }) => {
      // `go test` reports on its standard output, and its verdict comes last.
      throw new Error(
        `go ${args.join(' ')} in ${cwd} failed: ${(cause.stderr || cause.stdout || cause.message)
          .split('\n')
          .filter((line) => !line.startsWith('go: downloading'))
          .slice(-20)
          .join('\n')}`,
      );
    },
  );
  return stdout;
}
