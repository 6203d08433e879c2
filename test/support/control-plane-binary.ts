import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const sources = fileURLToPath(new URL('../control-plane/', import.meta.url));
const kubernetesVersion = 'v1.36.3';
const ldflags = `-s -w -X k8s.io/component-base/version.gitVersion=${kubernetesVersion}`;

/**
 * Path of the binary that is etcd, kube-apiserver, kube-controller-manager, kubectl and the load generator. Built when its
 * sources have changed: some minutes the first time. Kept outside the tree, so that a fresh checkout need not build it again.
 */
export async function controlPlaneBinary(say: (line: string) => void = console.error): Promise<string> {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'fleet-endpoints', `control-plane-${await hashOfSources()}`);
  const binary = join(folder, 'kube');
  if (await exists(binary)) return binary;
  await mkdir(folder, { recursive: true });
  const go = await goVersion();
  say(`building the control plane, Kubernetes ${kubernetesVersion}, with ${go} (minutes the first time): ${binary}`);
  const started = Date.now();
  // Another process may be building the same: the last one to finish wins, and either result is whole.
  const unfinished = `${binary}.${process.pid}`;
  await build(unfinished);
  await rename(unfinished, binary);
  say(`built in ${Math.round((Date.now() - started) / 1000)} s`);
  return binary;
}

async function hashOfSources(): Promise<string> {
  const names = (await readdir(sources)).filter((name) => name === 'go.mod' || name === 'go.sum' || name.endsWith('.go')).sort();
  const hash = createHash('sha256').update(ldflags);
  for (const name of names) hash.update(`\0${name}\0`).update(await readFile(join(sources, name)));
  return hash.digest('hex').slice(0, 16);
}

async function goVersion(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['version'], { cwd: sources });
    return stdout.split(' ').slice(2, 3).join() || 'go';
  } catch (e) {
    throw new Error(
      `the control plane for tests is built with Go, and \`go version\` does not work here (${(e as Error).message}); see https://go.dev/dl`,
    );
  }
}

function build(output: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = spawn('go', ['build', '-ldflags', ldflags, '-o', output, '.'], { cwd: sources, stdio: ['ignore', 'inherit', 'inherit'] });
    go.once('error', reject);
    go.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`go build of the control plane failed (${signal ?? `exit code ${code}`})`));
    });
  });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
