/** clusters.yaml as people edit it: it is read, or each mistake is a line with its place. */
import { readFileSync } from 'node:fs';
import fc, { type Arbitrary } from 'fast-check';
import { stringify } from 'yaml';
import { parseConfig } from '#infra/config/load-config.ts';
import { YamlProblems } from '#infra/config/yaml/yaml-shape.ts';
import { everything } from '#test/infra/clusters-file.ts';
import { type Door, ensure } from '../door.ts';
import { cut, hostileText, type Mutation, mutated, mutations, someCut } from '../hostile.ts';

interface Edited {
  readonly file: keyof typeof files;
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
  readonly cut: number;
}

const example = readFileSync(new URL('../../../../clusters.example.yaml', import.meta.url), 'utf8');
const uncommented = example.replace(/^( *)# ( *)(?=[\w-]+:|- )/gm, '$1$2');

const special = [
  'hub: &a [*a]',
  'hub: &a { hub: *a }',
  '<<: *x',
  '!!binary x',
  '? [a]\n: b',
  '"\\ud800"',
  '---\n---',
  '%YAML 9.9',
  `${'['.repeat(5_000)}`,
  `${'- '.repeat(3_000)}x`,
  '{'.repeat(3_000),
  '__proto__: { polluted: 1 }',
  'hub: { __proto__: { name: x } }',
  'hub: 1e999',
  '\t',
  '\u0000',
];

const files = { example, uncommented, everything, empty: '' };

const edited: Arbitrary<Edited> = fc.record({
  file: fc.constantFrom('example', 'uncommented', 'everything', 'empty'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat(30),
  inserted: fc.oneof(fc.constantFrom(...special, 'clusters:', ': ', '- ', '\n', '&a', '*a'), hostileText),
  cut: someCut,
});

interface Changed {
  readonly changes: readonly Mutation[];
}

const valid = {
  hub: {
    name: 'Fleet',
    vpc: {
      vpcId: 'vpc-0123456789abcdef0',
      subnetIds: ['subnet-0123456789abcdef0'],
      securityGroupIds: ['sg-0123456789abcdef0'],
    },
    clusterset: { name: 'prod' },
  },
  clusters: [
    {
      id: 'own',
      mode: 'active',
      exports: { namespaces: ['shop'], podCidrs: ['10.1.0.0/16'] },
      api: { url: 'https://own.example.com:6443', auth: { type: 'web-identity', audience: 'own' } },
      relay: {
        identity: { type: 'existing-role', roleArn: 'arn:aws:iam::111122223333:role/own-relay' },
        pod: { nodeSelector: { a: 'b' } },
      },
    },
  ],
};

const textOf = (value: Edited | Changed): string => {
  if ('changes' in value) return stringify(mutated(valid, value.changes));
  const { file, at, removed, inserted, cut: share } = value;
  const text = files[file];
  const place = Math.floor(text.length * at);
  return cut(text.slice(0, place) + inserted + text.slice(place + removed), share);
};

/** Processor time of the process, so that a busy machine does not count. */
const maxMicroseconds = 2_000_000;

export const clustersFile: Door<Edited | Changed> = {
  name: 'clusters-file',
  cases: 40,
  values: fc.oneof<Arbitrary<Edited | Changed>[]>(edited, fc.record({ changes: mutations })) as Arbitrary<
    Edited | Changed
  >,
  check(value) {
    const before = process.cpuUsage();
    try {
      const { hub, clusters } = parseConfig('clusters.yaml', textOf(value));
      ensure(
        typeof hub.name === 'string' && clusters.every(({ id }) => /^[a-z0-9-]+$/.test(id)),
        'a file is read into something else than a fleet',
      );
    } catch (error) {
      ensure(
        error instanceof YamlProblems,
        `a file is refused with ${error instanceof Error ? error.stack : String(error)}`,
      );
      for (const line of error.message.split('\n'))
        ensure(
          /^clusters\.yaml:\d+:\d+: \S|^\s|^$/.test(line),
          `a mistake has no place: ${line.slice(0, 200)}`,
        );
    }
    const { user, system } = process.cpuUsage(before);
    ensure(user + system < maxMicroseconds, 'a file takes more than two seconds of the processor');
  },
};
