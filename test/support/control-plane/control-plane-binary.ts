import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exists, onlyOnce } from '#test/support/only-once.ts';
import {
  cacheFolder,
  followedVersion,
  goEnvironment,
  goVersion,
  kubernetesFolder,
  kubernetesModule,
  controlPlaneSources as sources,
} from './kubernetes-module.ts';

const ldflagsOf = (version: string): string => `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;

/**
 * Path of the binary that is etcd, kube-apiserver, kube-controller-manager, kubectl and the load generator.
 * Built when its sources have changed: some minutes the first time. Kept outside the tree, so that a fresh
 * checkout need not build it again.
 */
export async function controlPlaneBinary(say: (line: string) => void = console.error): Promise<string> {
  const version = await followedVersion();
  const hash = await hashOfSources(sources, ldflagsOf(version));
  return built(
    {
      what: 'the control plane',
      version,
      module: async () => sources,
      folder: join(cacheFolder, `control-plane-${hash}`),
      name: 'kube',
    },
    say,
  );
}

/**
 * Path of the binary that is kube-proxy, CoreDNS, the kubelets' stand-in and a client of
 * test/cluster/packets. Built when its sources have changed.
 */
export async function nodeProgramsBinary(say: (line: string) => void = console.error): Promise<string> {
  const version = await followedVersion();
  const module = fileURLToPath(new URL('../../cluster/packets/programs/', import.meta.url));
  const hash = await hashOfSources(module, ldflagsOf(version));
  return built(
    {
      what: 'the programs of the nodes',
      version,
      module: async () => module,
      folder: join(cacheFolder, `packets-${hash}`),
      name: 'packets',
    },
    say,
  );
}

/**
 * Path of a binary that is kube-apiserver and kube-controller-manager of a version, such as v1.31.0. Built
 * once.
 */
export async function componentsBinary(
  version: string,
  say: (line: string) => void = console.error,
): Promise<string> {
  if (version === (await followedVersion())) return controlPlaneBinary(say);
  const module = (): Promise<string> => kubernetesModule(version);
  return built(
    { what: 'the control plane', version, module, folder: kubernetesFolder(version), name: 'kube' },
    say,
  );
}

interface Build {
  readonly what: string;
  readonly version: string;
  /** Resolves to the folder of the Go module. */
  readonly module: () => Promise<string>;
  /** Folder and file name of the binary. */
  readonly folder: string;
  readonly name: string;
}

/** The lock is beside the folder, which is replaced when a module is made. */
const built = (
  { what, version, module, folder, name }: Build,
  say: (line: string) => void,
): Promise<string> =>
  onlyOnce(`${folder}-${name}`, async () => {
    const binary = join(folder, name);
    if (await exists(binary)) return binary;
    const sourcesOf = await module();
    await mkdir(folder, { recursive: true });
    say(
      `building ${what}, Kubernetes ${version}, with ${await goVersion(sourcesOf)} (minutes the first time): ${binary}`,
    );
    const started = Date.now();
    // Renamed when it is whole, so that a build that was broken off is not taken for one.
    const unfinished = `${binary}.unfinished`;
    await build(sourcesOf, version, unfinished);
    await rename(unfinished, binary);
    say(`built in ${Math.round((Date.now() - started) / 1000)} s`);
    return binary;
  });

async function hashOfSources(module: string, ldflags: string): Promise<string> {
  const names = (await readdir(module))
    .filter((name) => name === 'go.mod' || name === 'go.sum' || name.endsWith('.go'))
    .sort();
  const hash = createHash('sha256').update(ldflags);
  for (const name of names) hash.update(`\0${name}\0`).update(await readFile(join(module, name)));
  return hash.digest('hex').slice(0, 16);
}

function build(module: string, version: string, output: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const args = ['build', '-ldflags', ldflagsOf(version), '-o', output, '.'];
    const go = spawn('go', args, {
      cwd: module,
      env: goEnvironment,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    go.once('error', reject);
    go.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`go build in ${module} failed (${signal ?? `exit code ${code}`})`));
    });
  });
}
