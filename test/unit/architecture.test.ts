/**
 * The import rules that biome.json can't express: what may be imported as a type only, and who may import an
 * SDK.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Import {
  readonly file: string;
  readonly from: string;
  readonly typeOnly: boolean;
}

/** Import and re-export declarations, side-effect imports and import(). */
function importsOf(file: string, source: string): readonly Import[] {
  const declarations = [
    ...source.matchAll(/^\s*(?:import|export)\s+(?:(?<clause>[^'";]*?)\s+from\s+)?'(?<from>[^']+)'/gm),
  ];
  const dynamic = [...source.matchAll(/\bimport\(\s*'(?<from>[^']+)'/g)];
  return [...declarations, ...dynamic].map(({ groups }) => ({
    file,
    from: groups?.['from'] ?? '',
    typeOnly: isTypeOnly(groups?.['clause']),
  }));
}

function isTypeOnly(clause: string | undefined): boolean {
  if (clause === undefined) return false;
  if (/^type\b/.test(clause)) return true;
  const names = /^\{(.*)\}$/s.exec(clause)?.[1];
  return names?.split(',').every((name) => name.trim() === '' || /^type\b/.test(name.trim())) ?? false;
}

interface Rule {
  readonly name: string;
  readonly isBroken: (i: Import) => boolean;
}

const isEntry = (file: string): boolean => /\.(handler|main)\.ts$/.test(file);
const inCore = (file: string): boolean => /^(shared|functions)\//.test(file);

const rules: readonly Rule[] = [
  {
    name: '@kubernetes/client-node is a type in shared/ and functions/: its code is too large and too slow for them',
    isBroken: ({ file, from, typeOnly }) =>
      inCore(file) && from.startsWith('@kubernetes/client-node') && !typeOnly,
  },
  {
    // attributes.ts, expressions.ts and queue-directory.ts use types and values of the driver without calls
    name: 'the AWS SDK runs in store/dynamodb/dynamodb.ts and batched-gets.ts, queue/sqs.ts, cluster/cluster-credentials.ts and the entries only',
    isBroken: ({ file, from, typeOnly }) =>
      inCore(file) &&
      from.startsWith('@aws-sdk/') &&
      !typeOnly &&
      !isEntry(file) &&
      ![
        'shared/store/dynamodb/dynamodb.ts',
        'shared/store/dynamodb/batched-gets.ts',
        'shared/queue/sqs.ts',
        'shared/clusters/api/cluster-credentials.ts',
      ].includes(file),
  },
  {
    // clusters/api connects by a cluster's record; infra/cli/ask/explain and infra/cli/ask/history use records
    // that their caller has read
    name: 'shared/clusters/api, infra/cli/ask/explain and infra/cli/ask/history know types of the records, and pure questions about a cluster, only',
    isBroken: ({ file, from, typeOnly }) =>
      /^(shared\/clusters\/api|infra\/cli\/ask\/explain|infra\/cli\/ask\/history)\//.test(file) &&
      /^(\.\.\/|#shared\/(store|clusters)\/)/.test(from) &&
      !typeOnly &&
      !/^#shared\/clusters\/(relay\/first-lists|writer\/(mode|writer-for)|zones-away)\.ts$/.test(from),
  },
  {
    name: 'the rules of the work queue know the type of a wake-up only',
    isBroken: ({ file, from, typeOnly }) =>
      file.startsWith('shared/workqueue/rules/') && from.startsWith('#shared/queue/') && !typeOnly,
  },
  {
    name: 'Pods are read through shared/store/inputs/namespace-pods.ts',
    isBroken: ({ file, from }) =>
      from.endsWith('/shared-reads.ts') && file !== 'shared/store/inputs/namespace-pods.ts',
  },
  {
    name: 'why a Pod is not ready is sent by the relay and sweep, and read for answers: no decision knows it',
    isBroken: ({ file, from }) =>
      /\/(not-ready|pod-for-answers)\.ts$/.test(from) &&
      !/^infra\/(cli\/ask|console)\//.test(file) &&
      ![
        'functions/relay/projection/entries.ts',
        'functions/sweep/own-list.ts',
        'shared/queue/parse.ts',
        'shared/store/inputs/pod-for-answers.ts',
      ].includes(file),
  },
  {
    name: 'an entry is imported by a local run only',
    isBroken: ({ file, from }) => isEntry(from) && !isEntry(file) && !file.startsWith('test/'),
  },
  {
    name: 'modules are imported with their extension, so that Node runs the sources as they are',
    isBroken: ({ from }) => /^(\.|#)/.test(from) && !/\.(ts|mjs|json)$|\/node_modules\/.*\.js$/.test(from),
  },
];

const broken = (imports: readonly Import[]): readonly string[] =>
  imports.flatMap((i) =>
    rules.filter((rule) => rule.isBroken(i)).map((rule) => `${i.file} imports ${i.from}: ${rule.name}`),
  );

describe('imports', () => {
  const files = globSync(['shared/**/*.ts', 'functions/**/*.ts', 'infra/**/*.ts']).filter(
    (file) => !file.endsWith('.d.ts'),
  );

  it('keep the rules', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(broken(files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8'))))).toEqual([]);
  });

  it.each([
    ['shared/kube/planted.ts', `import { KubeConfig, type V1Pod } from '@kubernetes/client-node';`],
    ['shared/queue/planted.ts', `import { SQSClient } from '@aws-sdk/client-sqs';`],
    ['functions/sync/planted.ts', `const { SQSClient } = await import('@aws-sdk/client-sqs');`],
    ['shared/clusters/api/planted.ts', `export { readCluster } from '#shared/clusters/record.ts';`],
    ['infra/cli/ask/explain/planted.ts', `import { readOutputs } from '#shared/store/outputs/outputs.ts';`],
    ['shared/workqueue/rules/planted.ts', `import { encodeWakeUp } from '#shared/queue/wake-up-message.ts';`],
    ['functions/sync/planted.ts', `import { SharedReads } from '#shared/store/inputs/shared-reads.ts';`],
    ['functions/sync/planted.ts', `import { podForAnswers } from '#shared/store/inputs/pod-for-answers.ts';`],
    ['shared/kube/planted.ts', `import { withNotReady } from './projection/not-ready.ts';`],
    ['functions/sync/planted.ts', `import './sync.handler.ts';`],
    ['functions/sync/planted.ts', `import {\n  a,\n  b,\n} from './batch';`],
  ])('in %s may not be: %s', (file, source) => {
    expect(broken(importsOf(file, source))).toHaveLength(1);
  });

  it.each([
    ['shared/kube/planted.ts', `import type { V1Pod } from '@kubernetes/client-node';`],
    ['shared/queue/planted.ts', `import { type SQSClient } from '@aws-sdk/client-sqs';`],
    ['functions/sync/planted.handler.ts', `import { SQSClient } from '@aws-sdk/client-sqs';`],
  ])('in %s may be: %s', (file, source) => {
    expect(broken(importsOf(file, source))).toEqual([]);
  });
});

/**
 * The rooms of each stage, and the rooms that each of them may import; '.' is the hall, the files beside the
 * rooms.
 */
const rooms: Record<string, Record<string, readonly string[]>> = {
  'functions/relay': {
    '.': ['reflector', 'outbox', 'projection', 'election', 'source', 'runtime'],
    reflector: ['outbox', 'projection', 'election', 'source', 'runtime'],
    outbox: ['projection', 'runtime'],
    projection: ['delay', 'source', 'runtime'],
    delay: ['runtime'],
    election: ['source', 'runtime'],
    source: ['runtime'],
    runtime: [],
  },
  'functions/ingest': {
    '.': ['inputs', 'outputs', 'session', 'wake-ups', 'batch'],
    inputs: ['batch'],
    outputs: ['session', 'batch'],
    session: ['batch'],
    'wake-ups': ['batch'],
    batch: [],
  },
  'functions/sync': {
    '.': ['service', 'aftermath', 'state'],
    service: ['controllers', 'guards', 'admission', 'state'],
    controllers: ['guards', 'admission', 'writes', 'state'],
    guards: ['state'],
    writes: [],
    admission: ['state'],
    aftermath: ['state'],
    state: [],
  },
};

/**
 * Imports from one room of a stage to another that `rooms` does not list. An entry may also import what it
 * connects to the port.
 */
function strayImports(stage: string, imports: readonly Import[]): readonly string[] {
  const roomOf = (path: string): string => /^([^/]+)\//.exec(path.slice(stage.length + 1))?.[1] ?? '.';
  return imports
    .filter(({ file, from }) => from.startsWith('.') && !isEntry(file))
    .map(({ file, from }) => ({ file, from: roomOf(file), to: roomOf(join(dirname(file), from)) }))
    .filter(({ from, to }) => from !== to && !rooms[stage]?.[from]?.includes(to))
    .map(({ file, from, to }) => `${file}: ${from} imports ${to}`);
}

describe('rooms', () => {
  it.each(Object.keys(rooms))('the rooms of %s import downwards only', (stage) => {
    const files = globSync(`${stage}/**/*.ts`);
    expect(
      new Set(
        files
          .map((file) => file.slice(stage.length + 1).split('/'))
          .map(([room, name]) => (name ? room : '.')),
      ),
    ).toEqual(new Set(Object.keys(rooms[stage] ?? {})));
    expect(
      strayImports(
        stage,
        files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8'))),
      ),
    ).toEqual([]);
  });

  it('a planted import of a higher room is found', () => {
    expect(
      strayImports(
        'functions/sync',
        importsOf('functions/sync/state/planted.ts', `import { a } from '../service/b.ts';`),
      ),
    ).toHaveLength(1);
  });
});

describe('the record of a cluster', () => {
  const writesIt = (file: string, source: string): boolean =>
    !/^shared\/(clusters\/|clusterset\/membership\/|store\/keys\.ts$)/.test(file) &&
    /\bmetaKey\b|sk: 'META'/.test(source);

  it('the key of a cluster’s record is used in shared/clusters and by the wing’s membership alone, which have a verb for each change', () => {
    const files = globSync('{shared,functions,infra}/**/*.ts');
    expect(files.filter((file) => writesIt(file, readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('a planted write to the record is found', () => {
    expect(
      writesIt('functions/sync/planted.ts', `await table.update(metaKey('c'), { set: { mode: 'active' } });`),
    ).toBe(true);
    expect(writesIt('infra/cli/planted.ts', `await table.get({ pk: 'CLUSTER#c', sk: 'META' });`)).toBe(true);
  });
});

describe('the work queue', () => {
  const sources = globSync('{shared,functions,infra}/**/*.ts').map(
    (file) => [file, readFileSync(file, 'utf8')] as const,
  );
  const filesWith = (text: RegExp): readonly string[] =>
    sources.filter(([, source]) => text.test(source)).map(([file]) => file);

  it('the key of a work item is used by its store alone', () => {
    expect(filesWith(/\bworkKey\(|\bworkOf\(|#WORK#/).toSorted()).toEqual([
      'shared/store/keys.ts',
      'shared/workqueue/item-store.ts',
    ]);
  });

  it('one file sends wake-ups', () => {
    const senders = filesWith(/\bencodeWakeUp\(/).filter(
      (file) => file !== 'shared/queue/wake-up-message.ts',
    );
    expect(senders).toEqual(['shared/workqueue/outgoing.ts']);
  });

  it('a wake-up is made in shared/workqueue and by the wing’s wake-ups alone', () => {
    const makers = filesWith(/\b(newWork|allAtLeaseEnd|delayUntil)\(/);
    const isMaker = /^shared\/(workqueue|clusterset\/wake-ups)\//;
    expect(makers.filter((file) => !isMaker.test(file))).toEqual([]);
  });
});

/** Files and rooms of each folder; an empty one, which git does not know, is none. */
function folderSizes(): readonly {
  readonly folder: string;
  readonly files: number;
  readonly rooms: number;
}[] {
  const files = globSync('{.ci,docs,functions,infra,shared,test}/**/*', {
    exclude: ({ name }) => name === 'node_modules' || name === 'dist',
    withFileTypes: true,
  }).filter((entry) => !entry.isDirectory());
  const folders = Map.groupBy(
    files.map(({ parentPath }) => relative('.', parentPath)),
    (folder) => folder,
  );
  const rooms = (of: string): number =>
    new Set(
      [...folders.keys()].flatMap((folder) =>
        folder.startsWith(`${of}/`) ? [folder.slice(of.length + 1).split('/')[0]] : [],
      ),
    ).size;
  const parents = [...folders.keys()].map((folder) => dirname(folder)).filter((folder) => folder !== '.');
  return [...new Set([...folders.keys(), ...parents])].map((folder) => ({
    folder,
    files: folders.get(folder)?.length ?? 0,
    rooms: rooms(folder),
  }));
}

it('a folder has at most 20 files and 9 rooms, which a reader takes in at once', () => {
  const large = folderSizes().filter(({ files, rooms }) => files > 20 || rooms > 9);
  expect(large).toEqual([]);
});

it('files are small', () => {
  const long = globSync('{shared,functions,infra}/**/*.ts').filter(
    (file) =>
      readFileSync(file, 'utf8').split('\n').length - 1 > 300 && file !== 'infra/aws/constructs/props.ts',
  );
  expect(long).toEqual([]);
});

/**
 * Names of roles that several folders have: the interface of a driver, a stage's dependencies and its batch,
 * the parts of the two controllers, and the doors of the wing.
 */
const sharedNames: readonly string[] = [
  'port.ts',
  'deps.ts',
  'labels.ts',
  'outcome.ts',
  'plan.ts',
  'decide.ts',
  'wing.ts',
];

it('file names are unique, but for names of roles', () => {
  const folders = Map.groupBy(
    globSync('{shared,functions,infra}/**/*.ts'),
    (file) => file.split('/').at(-1) as string,
  );
  const equal = [...folders].filter(([name, files]) => files.length > 1 && !sharedNames.includes(name));
  expect(equal.map(([, files]) => files.join(' and '))).toEqual([]);
});

it('a name is exported once in shared and functions', () => {
  const exported = globSync('{shared,functions}/**/*.ts').flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^export (?:async )?(?:type|interface|class|const|function\*?) (\w+)/gm,
      ),
    ].map(([, name]) => ({
      name,
      file,
    })),
  );
  const twice = [...Map.groupBy(exported, ({ name }) => name)].filter(
    ([name, of]) => of.length > 1 && name !== 'handler',
  );
  expect(twice.map(([name, of]) => `${name}: ${of.map(({ file }) => file).join(' and ')}`)).toEqual([]);
});

it('a test has the name of a file that it tests, or a first line about what it proves', () => {
  const names = new Set(
    globSync('{shared,functions,infra,test}/**/*.ts').map((file) => file.split('/').at(-1)),
  );
  const tests = globSync('test/**/*.test.ts', { exclude: (path) => path.includes('node_modules') });
  const isNamedAfter = (file: string): boolean =>
    names.has(`${file.split('/').at(-1)?.slice(0, -'.test.ts'.length)}.ts`);
  expect(tests.filter((file) => !isNamedAfter(file) && !/^\/\*\*?/.test(readFileSync(file, 'utf8')))).toEqual(
    [],
  );
});

/** Titles of tests, those of `each` and of the suites that tests share included. */
function titlesOf(source: string): readonly string[] {
  const call =
    /^[ \t]*(?:it(?:\.\w+)*|\](?: as const)?\)|it\b[^\n]*\))\(\s*(?<quote>['"`])(?<title>(?:\\.|(?!\k<quote>).)*)\k<quote>/gm;
  return [...source.matchAll(call)].map(({ groups }) => groups?.['title'] ?? '');
}

describe('test titles', () => {
  /** Beginnings that only continue the name of a suite, and are meaningless in the single line of a failure. */
  const fragment = /^(of|not|that|is|are|whose|and|or|nor|has|have|does|was|were|may|can|cannot)\b/;
  // The contract with former versions is not edited.
  const files = globSync('test/**/*.ts').filter((file) => !file.endsWith('one-version-apart.test.ts'));

  it('titles are sentences with their subject', () => {
    const titles = files.flatMap((file) =>
      titlesOf(readFileSync(file, 'utf8')).map((title) => [file, title] as const),
    );
    expect(titles.length).toBeGreaterThan(1_000);
    expect(titles.filter(([, title]) => fragment.test(title))).toEqual([]);
  });

  it('tests are declared by `it`, and by nothing else', () => {
    expect(
      files.filter((file) => /import \{[^}]*\btest\b[^}]*\} from 'vitest'/.test(readFileSync(file, 'utf8'))),
    ).toEqual([]);
  });
});
