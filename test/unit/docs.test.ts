/**
 * Names in README, CONTRIBUTING, docs/ and the folders' READMEs must exist, and their prose must be readable
 * in a diff.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { oldestSupported } from '#infra/cli/ask/explain/version-support.ts';
import { program } from '#infra/cli/command/program.ts';
import { type Feature, features } from '#shared/kube/kubernetes-version.ts';
import { versions } from '#test/cluster/versions/versions.ts';
import { mutants } from '#test/worlds/simulation/mutants/mutants.ts';

const folders = globSync('{functions,shared,infra,test}/**/README.md', {
  exclude: (path) => /node_modules|relay\/chart/.test(path),
});
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'SUPPORT.md',
  ...globSync('docs/*/*.md'),
  ...folders,
];

/** Lines outside of code blocks. */
function proseOf(page: string): readonly string[] {
  let inCode = false;
  return readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => {
      const isFence = /^\s*```/.test(line);
      if (isFence) inCode = !inCode;
      return !isFence && !inCode;
    });
}

it('no page has the marks of a merge', () => {
  const marked = pages.filter((page) => /^(<<<<<<<|>>>>>>>) /m.test(readFileSync(page, 'utf8')));
  expect(marked).toEqual([]);
});

it('prose is wrapped at 110 characters, tables and what cannot be broken excepted', () => {
  const asOneWord = (line: string): string =>
    line.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, (text) => 'x'.repeat(text.length));
  const canBeBroken = (line: string): boolean =>
    !/^(\|| {4})/.test(line) && asOneWord(line).slice(4, 110).includes(' ');
  const long = pages.flatMap((page) =>
    proseOf(page).flatMap((line) => (line.length > 110 && canBeBroken(line) ? [`${page}: ${line}`] : [])),
  );
  expect(long).toEqual([]);
});

it('every path of the project that a page names exists', () => {
  const named = /`((?:functions|shared|infra|test|docs)\/[\w./-]+)`/g;
  const missing = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(named)].flatMap(([, path = '']) =>
      existsSync(path) ? [] : [`${page}: ${path}`],
    ),
  );
  expect(missing).toEqual([]);
});

it('every link of a page leads to a file of the project, and to a heading that the file has', () => {
  const headings = (file: string): readonly string[] =>
    (readFileSync(file, 'utf8').match(/^#+ .*$/gm) ?? []).map((heading) => {
      const text = heading.replace(/^#+ /, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
      return text
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
    });
  const links = [...pages, 'CHANGELOG.md', ...decisions].flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)].map(
      ([link, path = '', heading]) => ({
        link: `${page}: ${link}`,
        file: path ? join(dirname(page), path) : page,
        heading,
      }),
    ),
  );
  expect(links.length).toBeGreaterThan(200);
  expect(
    links
      .filter(({ file, heading }) => !existsSync(file) || (heading && !headings(file).includes(heading)))
      .map(({ link }) => link),
  ).toEqual([]);
});

/** Comments of a file, with the lines of its blocks. */
const commentsOf = (source: string): readonly string[] =>
  source.match(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? [];

it('every file that a comment names exists', () => {
  const files = globSync('{functions,shared,infra,test,docs}/**/*.{ts,md}', {
    exclude: (path) => path.includes('node_modules'),
  });
  const tails = new Set(
    files.flatMap((file) => [...file.matchAll(/(?:^|(?<=\/))/g)].map(({ index }) => file.slice(index))),
  );
  const named = /(?<![\w./*$-])(?:[\w-]+\/)*[a-z][\w-]*(?:\.\w+)*\.(?:ts|md)\b/g;
  const names = files.flatMap((file) =>
    file.endsWith('.ts')
      ? commentsOf(readFileSync(file, 'utf8')).flatMap((comment) =>
          (comment.match(named) ?? []).map((name) => ({ file, name })),
        )
      : [],
  );
  expect(names.length).toBeGreaterThan(200);
  expect(names.filter(({ name }) => !tails.has(name))).toEqual([]);
});

it('every command that a page names is one of package.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly scripts: { readonly [name: string]: string };
  };
  const commands = /npm run (?:-s )?([a-z][\w:-]*)/g;
  const unknown = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(commands)].flatMap(([, name = '']) =>
      name in scripts ? [] : [`${page}: ${name}`],
    ),
  );
  expect(unknown).toEqual([]);
});

it('every command of the package that a page names is one, and no page for its users names a script of a checkout', () => {
  const known = new Map(
    program().commands.map((command) => [command.name(), new Set(command.commands.map((sub) => sub.name()))]),
  );
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(page, 'utf8').matchAll(/`(?:npx )?fleet-endpoints ([a-z][a-z-]*)(?: ([a-z-]+)\b)?/g),
    ].map(([text, name = '', sub]) => ({
      page,
      text,
      name,
      sub,
    })),
  );
  expect(named.length).toBeGreaterThan(40);
  const isKnown = ({ name, sub }: (typeof named)[number]): boolean => {
    const subs = known.get(name);
    return subs !== undefined && (subs.size === 0 || sub === undefined || subs.has(sub));
  };
  expect(named.filter((command) => !isKnown(command))).toEqual([]);
  const scripts = pages.filter((page) =>
    /npm\s+run\s+(-s\s+)?(synth|deploy)(?![\w:-])/.test(readFileSync(page, 'utf8')),
  );
  expect(scripts).toEqual([]);
});

it('every name that a page puts in a file is there', () => {
  const named = [...pages, 'functions/README.md'].flatMap((page) => [
    ...readFileSync(page, 'utf8').matchAll(/`(\w+)`\s+(?:in|of)\s+`([\w/.-]+\/[\w.-]+\.ts)`/g),
  ]);
  expect(named.length).toBeGreaterThan(35);
  const missing = named.filter(
    ([, name = '', file = '']) => !new RegExp(`\\b${name}\\b`).test(readFileSync(file, 'utf8')),
  );
  expect(missing.map(([text]) => text)).toEqual([]);
});

/** How many words a page may have, its markup included. Raise one only for what a reader would miss. */
const ceilings: { readonly [page: string]: number } = {
  'README.md': 900,
  'SUPPORT.md': 170,
  'SECURITY.md': 85,
  'docs/use/why-not-an-endpoint.md': 1_300,
  'docs/use/opt-in.md': 1_500,
  'docs/use/zones.md': 700,
  'docs/use/clusterset.md': 3_000,
  'docs/use/commands.md': 700,
  'docs/use/comparison.md': 450,
  'docs/use/glossary.md': 500,
  'docs/operate/getting-started.md': 3_150,
  'docs/operate/first-run-on-aws.md': 400,
  'docs/operate/gitops.md': 450,
  'docs/operate/runbook.md': 5_000,
  'docs/operate/monitoring.md': 800,
  'docs/operate/upgrading.md': 900,
  'docs/operate/cost.md': 900,
  'docs/operate/security.md': 2_400,
  'docs/operate/versions.md': 700,
  'docs/operate/limits.md': 1_000,
  'CHANGELOG.md': 400,
  'CONTRIBUTING.md': 1_500,
  'docs/develop/architecture.md': 4_300,
  'docs/develop/benchmarks.md': 1_300,
};
const decisions = globSync('docs/develop/decisions/*.md');

const wordsOf = (page: string): number => readFileSync(page, 'utf8').match(/\S+/g)?.length ?? 0;
const wordsOfAll = (some: readonly string[]): number => some.reduce((sum, page) => sum + wordsOf(page), 0);

it('every page has a ceiling of words, and stays below it', () => {
  const all = { ...ceilings, ...Object.fromEntries(decisions.map((page) => [page, 150])) };
  expect(Object.keys(all).sort()).toEqual(
    [...globSync('*.md'), ...globSync('docs/{use,operate,develop}/**/*.md')].sort(),
  );
  const long = Object.entries(all).filter(([page, ceiling]) => wordsOf(page) > ceiling);
  expect(long.map(([page, ceiling]) => `${page}: ${wordsOf(page)} of ${ceiling}`)).toEqual([]);
});

it('users have 25,000 words to read, developers 12,000 and 14 decisions', () => {
  const ofUsers = ['README.md', 'SUPPORT.md', 'SECURITY.md', ...globSync('docs/{use,operate}/*.md')];
  const ofDevelopers = [...globSync('docs/develop/*.md'), 'CONTRIBUTING.md', ...decisions, ...folders];
  expect(wordsOfAll(ofUsers)).toBeLessThanOrEqual(25_000);
  expect(wordsOfAll(ofDevelopers)).toBeLessThanOrEqual(12_000);
  expect(wordsOfAll(folders)).toBeLessThanOrEqual(2_200);
  expect(decisions.length).toBeLessThanOrEqual(14);
});

it('pages of users name no sources, scripts of a checkout or decisions', () => {
  const named = [...globSync('docs/{use,operate}/*.md'), 'SUPPORT.md', 'SECURITY.md'].flatMap((page) =>
    (
      readFileSync(page, 'utf8').match(
        /(?<![\w/])(functions|shared|test)\/[\w/.-]*|npm run \S+|develop\/decisions/g,
      ) ?? []
    ).map((name) => `${page}: ${name}`),
  );
  expect(named).toEqual([]);
});

it('the glossary has at most 30 words, each once', () => {
  const words = readFileSync('docs/use/glossary.md', 'utf8').match(/\*\*[^*]+\*\*/g) ?? [];
  expect(words.length).toBeGreaterThan(20);
  expect(words.length).toBeLessThanOrEqual(30);
  expect(new Set(words).size).toBe(words.length);
});

it('docs/develop/architecture.md has the mechanism that every mutant of the simulation removes, and no other', () => {
  const [, section = ''] =
    /\n## Mechanisms\n([\s\S]*?)\n## /.exec(readFileSync('docs/develop/architecture.md', 'utf8')) ?? [];
  const rows = [...section.matchAll(/^\| (?!mechanism |---)(.*?) \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...new Set(mutants.map((m) => m.mechanism))].sort());
});

it('docs/operate/versions.md has a row of each feature that an older version lacks, and of each version that is played', () => {
  const page = readFileSync('docs/operate/versions.md', 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const missing = Object.values<Feature>(features).filter(
    ({ what, from, statement }) =>
      !rows.some((row) => row.startsWith(`| ${what}${statement ? ` (${statement})` : ''} | ${from} |`)),
  );
  expect(missing).toEqual([]);
  expect(versions.filter((version) => !rows.some((row) => row.startsWith(`| ${version} |`)))).toEqual([]);
  expect(page).toContain(`The oldest tested version is **${oldestSupported}**`);
});
