/** The package's content, its size, and its commands in an empty folder on the machine's own Node. */
import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Installed, install, userEnv } from './installed.ts';
import { type PlannedCommand, reads, switches, withValues } from './operators-commands.ts';

let installed: Installed;
beforeAll(async () => {
  installed = await install([]);
  const { out } = await installed.run('node', '--version');
  console.log(`on Node ${out.trim()}`);
});
afterAll(() => installed?.remove());

const ours = (...path: readonly string[]): string =>
  join(installed.folder, 'node_modules/fleet-endpoints', ...path);
const sizeOf = async (folder: string): Promise<number> =>
  Number((await promisify(execFile)('du', ['-sk', folder])).stdout.split('\t')[0]) * 1024;
const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

describe('the package', () => {
  it('packing leaves no programs in dist, so that npx in a checkout runs the sources', async () => {
    expect(await readdir('dist')).not.toContain('programs');
  });

  it('the archive contains built files and documents, and neither tests nor sources', async () => {
    const files = (await promisify(execFile)('tar', ['-tzf', installed.tarball])).stdout.trim().split('\n');
    const known = [
      /^package\/(package\.json|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|SUPPORT\.md|clusters\.example\.yaml)$/,
      /^package\/dist\/programs\/(chunks|functions|infra)\/[\w./-]+\.js$/,
      /^package\/dist\/functions\/(worker|sweep|register)\/index\.mjs(\.map)?$/,
      /^package\/dist\/constructs\/(index\.js|package\.json|types\/[\w./-]+\.d\.ts)$/,
      /^package\/dist\/clusters\.schema\.json$/,
      /^package\/dist\/schemas\/[\w-]+\.schema\.json$/,
      /^package\/dist\/relay\/(relay\.mjs|Dockerfile)$/,
      /^package\/dist\/console\/(index\.html|app\.js|app\.css|favicon\.svg)$/,
      /^package\/dist\/(third-party-licenses\.txt|sbom\.cdx\.json)$/,
      /^package\/docs\/([\w-]+\.(png|svg)|(use|operate|reference)\/(?!parity\.)[\w-]+\.md)$/,
      /^package\/dist\/grafana\/(fleet|cluster|relay)\.json$/,
      /^package\/infra\/relay\/chart-parts\/(Chart\.yaml|values\.yaml|values\.schema\.json)$/,
    ];
    expect(files.filter((file) => !known.some((pattern) => pattern.test(file)))).toEqual([]);
    for (const pattern of known) expect(files.some((file) => pattern.test(file))).toBe(true);
  });

  it('the manifest is public, needs no package for itself, and one for a local run alone', async () => {
    const manifest = JSON.parse(await readFile(ours('package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).not.toHaveProperty('dependencies');
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['dynalite']);
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }])),
    );
    expect(['preinstall', 'install', 'postinstall'].filter((name) => name in manifest.scripts)).toEqual([]);
  });

  it('sizes stay small: the archive, the package itself, and with the dependencies of a local run', async () => {
    const [archive, alone, all] = [
      (await stat(installed.tarball)).size,
      await sizeOf(ours()),
      await sizeOf(join(installed.folder, 'node_modules')),
    ];
    console.log(
      `archive ${inMegabytes(archive)}, unpacked ${inMegabytes(alone)}, node_modules ${inMegabytes(all)}`,
    );
    expect(archive).toBeLessThan(3.7e6);
    expect(alone).toBeLessThan(14e6);
    expect(all).toBeLessThan(45e6);
  });

  it('the licence file names every third-party package in it, with its licence', async () => {
    const { components } = JSON.parse(await readFile(ours('dist/sbom.cdx.json'), 'utf8'));
    const names = components.map((c: { name: string }) => c.name);
    expect(names).toEqual(
      expect.arrayContaining([
        '@aws-sdk/client-sqs',
        '@kubernetes/client-node',
        'commander',
        'fauxqs',
        'yaml',
      ]),
    );
    const notices = await readFile(ours('dist/third-party-licenses.txt'), 'utf8');
    for (const { name, version, licenses } of components) {
      expect(licenses[0].license.id).toMatch(
        /^(Apache-2\.0|MIT|ISC|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|Unlicense)$/,
      );
      expect(notices).toContain(`${name} ${version} (`);
    }
  });
});

it('the first line of the runbook finds the command from any folder, where it is installed for the whole machine', async () => {
  const prefix = join(installed.folder, '../machine');
  const elsewhere = join(installed.folder, '../elsewhere');
  const [, line = ''] =
    (await readFile(ours('docs/operate/runbook.md'), 'utf8')).match(
      /\*\*If you remember one thing\*\*: `([^`]+)`/,
    ) ?? [];
  const page = await readFile(ours('docs/operate/getting-started.md'), 'utf8');
  const command =
    /^npm install --global .*$/m.exec(page)?.[0].replace('./fleet-endpoints-0.1.0.tgz', installed.tarball) ??
    '';
  // The environment has no credentials, so the command itself prints the error. The line names its table, so that it never pauses a local run.
  const script = `${command} >&2 && export PATH=${join(prefix, 'bin')}:$PATH && mkdir ${elsewhere} && cd ${elsewhere} && ${line}`;
  const { code, err } = await installed.run(
    'env',
    `npm_config_prefix=${prefix}`,
    `TMPDIR=${installed.folder}`,
    'npm_config_offline=true',
    'bash',
    '-c',
    script,
  );
  expect({ line, code, err }).toMatchObject({
    line: 'fleet-endpoints cluster pause --all --table NAME',
    code: 1,
    err: expect.stringContaining('table NAME'),
  });
});

describe('in an empty folder', () => {
  it('help, completion and answers to mistakes come from `npx fleet-endpoints`', async () => {
    const [help, wrong, check] = await Promise.all([
      installed.run('npx', 'fleet-endpoints', '--help'),
      installed.run('npx', 'fleet-endpoints', 'clutser'),
      installed.run('npx', 'fleet-endpoints', 'config', 'check', ours('clusters.example.yaml')),
    ]);
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('Example:') });
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean cluster?') });
    expect(check).toMatchObject({ code: 0, out: expect.stringContaining('no mistakes') });
  });

  it('a cluster is asked by a kubeconfig, and agents are answered, on the machine’s own Node', async () => {
    const kubeconfig = {
      'current-context': 'prod',
      clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1', 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u' } }],
    };
    const file = join(installed.folder, 'kubeconfig');
    await writeFile(file, stringify(kubeconfig));
    const asked = await installed.run('npx', 'fleet-endpoints', 'explain', '--kubeconfig', file, 'shop/web');
    expect(asked).toMatchObject({ code: 1, err: expect.stringContaining('ECONNREFUSED 127.0.0.1:1') });

    const client = new Client({ name: 'test', version: '1' });
    const program = join(installed.folder, 'node_modules/.bin/fleet-endpoints');
    const env = userEnv as Record<string, string>;
    await client.connect(
      new StdioClientTransport({
        command: program,
        args: ['mcp', '--kubeconfig', file],
        cwd: installed.folder,
        env,
      }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['list_services', 'explain', 'timeline']);
      const given = { namespace: 'shop', service: 'web' };
      expect(await client.callTool({ name: 'explain', arguments: given })).toMatchObject({ isError: true });
    } finally {
      await client.close();
    }
  });

  it('`npx fleet-endpoints start` runs the whole system until Ctrl-C, and the other commands find it', async () => {
    const run = await installed.start(['start']);
    try {
      const [, url] = await run.line(/console at (http:\S+)/, 180_000);
      await run.line(/^ready: demo-1 \(active\)/, 120_000);
      const fleet = await (await fetch(`${url}/api/fleet`)).text();
      expect(fleet).toContain('demo-1');
      for (const file of ['', 'app.js', 'app.css', 'favicon.svg'])
        expect((await fetch(`${url}/${file}`)).status).toBe(200);
      const [explained, checked, listed, address] = await Promise.all([
        installed.run('npx', 'fleet-endpoints', 'explain', 'demo-1', 'shop/web'),
        installed.run('npx', 'fleet-endpoints', 'opt-in', 'check', 'demo-1', 'shop/cart'),
        installed.run('npx', 'fleet-endpoints', 'cluster', 'list', '-o', 'json'),
        installed.run('npx', 'fleet-endpoints', 'console'),
      ]);
      // Without a warning of the SDK on an older Node, too.
      expect(explained).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^demo-1 shop\/web: /),
      });
      expect(checked).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^demo-1 shop\/cart: it opts in /),
      });
      expect(JSON.parse(listed.out)).toMatchObject([
        { id: 'demo-1', mode: 'active', firstListsApplied: true },
      ]);
      expect(address.out.trim()).toBe(url);
      const { processes } = (await (await fetch(`${url}/healthz`)).json()) as {
        readonly processes: readonly { readonly pid: number }[];
      };
      expect(processes.length).toBeGreaterThan(5);
      expect(await run.interrupt()).toBe(0);
      for (const { pid } of processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    } finally {
      await run.interrupt();
    }
  });

  it('the commands of README and of the users’ and operators’ pages do on a local run of two clusters what the pages promise', async () => {
    const run = await installed.start(['start', '--clusters', '2']);
    try {
      await run.line(/^ready: 2 clusters/, 180_000);
      // The history of the demonstration begins with its first rolling update.
      await expect
        .poll(
          async () => (await installed.run('npx', 'fleet-endpoints', 'history', 'demo-1', 'shop/web')).out,
          { timeout: 60_000 },
        )
        .toMatch(/added/);
      // npx finds this program, and takes longer than most of these commands.
      const program = join(installed.folder, 'node_modules/.bin/fleet-endpoints');
      async function check({ text, prints, code = 0 }: PlannedCommand): Promise<void> {
        const ran = await installed.run(program, ...withValues(text));
        expect({ text, code: ran.code, printed: `${ran.out}${ran.err}` }).toEqual({
          text,
          code,
          printed: expect.stringMatching(prints),
        });
      }
      await Promise.all(reads.map(check));
      for (const command of switches) await check(command);
    } finally {
      await run.interrupt();
    }
  }, 480_000);
});
