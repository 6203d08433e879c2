/** The Dockerfile of the relay: linted everywhere, and where there is Docker built and run. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { userEnv } from './installed.ts';

const run = promisify(execFile);
const file = 'functions/relay/Dockerfile';
/**
 * Validator and parser of Docker's own extension for editors. They serve this test alone, so they are not
 * among the dependencies.
 */
const linter = 'dockerfile-utils@0.16.3';

interface Instruction {
  getKeyword(): string;
  getArguments(): readonly object[];
}
interface From {
  getImageTag(): string | null;
  getImageDigest(): string | null;
}
interface Linter {
  validate(text: string): readonly { readonly message: string; readonly instructionLine?: number }[];
}
interface Parser {
  readonly DockerfileParser: {
    parse(text: string): { getInstructions(): readonly Instruction[]; getFROMs(): readonly From[] };
  };
}

let folder: string;
let text: string;
let wrongIn: (dockerfile: string) => readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-dockerfile-'));
  text = await readFile(file, 'utf8');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, linter], {
    cwd: folder,
    env: userEnv,
  });
  const require = createRequire(join(folder, 'package.json'));
  const [{ validate }, { DockerfileParser }] = [
    require('dockerfile-utils') as Linter,
    require('dockerfile-ast') as Parser,
  ];
  wrongIn = (dockerfile) => [
    ...validate(dockerfile).map(({ message }) => message),
    ...againstOurRules(DockerfileParser.parse(dockerfile)),
  ];
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function againstOurRules(dockerfile: ReturnType<Parser['DockerfileParser']['parse']>): readonly string[] {
  const instructions = dockerfile
    .getInstructions()
    .map((i) => ({ keyword: i.getKeyword().toUpperCase(), words: i.getArguments().map(String) }));
  const lastFrom = instructions.findLastIndex(({ keyword }) => keyword === 'FROM');
  const user = instructions.slice(lastFrom).findLast(({ keyword }) => keyword === 'USER')?.words[0];
  return [
    ...dockerfile.getFROMs().flatMap((from) => {
      const [tag, digest] = [from.getImageTag(), from.getImageDigest()];
      return digest === null && (tag === null || tag === 'latest')
        ? ['the base image has neither a tag nor a digest']
        : [];
    }),
    ...(user !== undefined && /^[1-9]\d*(:[1-9]\d*)?$/.test(user)
      ? []
      : [`runs as ${user ?? 'root'}: the kubelet checks runAsNonRoot by a number`]),
    ...instructions.flatMap(({ keyword, words }) =>
      keyword === 'ADD' ? [`ADD ${words.join(' ')}: COPY takes from the folder alone`] : [],
    ),
  ];
}

it('the linter and our own rules find nothing in the Dockerfile: a base image with a tag, a user by number, nothing from elsewhere', () => {
  expect(wrongIn(text)).toEqual([]);
});

it.each([
  ['FROM gcr.io/distroless/nodejs24-debian12', 'the base image has neither a tag nor a digest'],
  ['FROM gcr.io/distroless/nodejs24-debian12:latest', 'the base image has neither a tag nor a digest'],
  ['USER root', 'runs as root: the kubelet checks runAsNonRoot by a number'],
  ['USER 0', 'runs as 0: the kubelet checks runAsNonRoot by a number'],
  [
    'ADD https://example.com/relay.mjs ./',
    'ADD https://example.com/relay.mjs ./: COPY takes from the folder alone',
  ],
  ['COPPY relay.mjs ./', 'Unknown instruction: COPPY'],
])('%s in its place would be found', (line, found) => {
  const keyword = line.split(' ')[0]?.replace('ADD', 'COPY').replace('COPPY', 'COPY');
  expect(wrongIn(text.replace(new RegExp(`^${keyword} .*$`, 'm'), line))).toContain(found);
});

const hasDocker = await run('docker', ['info', '--format', '{{.ServerVersion}}']).then(
  () => true,
  () => false,
);

it.skipIf(!hasDocker)(
  'Docker builds the image from the bundle, and the relay in it names the settings that it misses',
  async () => {
    await run('npm', ['run', '-s', 'build'], { maxBuffer: 2 ** 26 });
    expect((await readdir('dist/relay')).sort()).toEqual(['Dockerfile', 'relay.mjs']);
    const image = 'fleet-endpoints-relay:test';
    await run('docker', ['build', '--quiet', '--tag', image, 'dist/relay'], { maxBuffer: 2 ** 26 });
    try {
      await expect(
        run('docker', ['run', '--rm', '--read-only', '--network', 'none', image]),
      ).rejects.toMatchObject({
        stderr: expect.stringContaining('CLUSTER_ID'),
      });
    } finally {
      await run('docker', ['image', 'rm', '--force', image]);
    }
  },
);
