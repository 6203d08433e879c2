/**
 * The constructs as an app outside of this tree uses them: typed, synthesized on the machine's own Node, and
 * with nothing bundled there.
 */
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commandsOf } from '#test/support/page-commands.ts';
import { type Installed, install } from './installed.ts';

let installed: Installed;
beforeAll(async () => {
  const { devDependencies: known } = JSON.parse(await readFile('package.json', 'utf8'));
  const peers = ['aws-cdk-lib', 'constructs', 'aws-cdk', '@types/node'].map(
    (name) => `${name}@${known[name]}`,
  );
  // `cdk init` installs this version.
  peers.push('typescript@5.9.3');
  installed = await install(peers, ['--omit=optional']);
  await cp('test/e2e/package/example', installed.folder, { recursive: true });
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
    types: ['node'],
    outDir: 'built',
  };
  await writeFile(
    join(installed.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['hub-app.ts', 'cluster-app.ts'] }),
  );
});
afterAll(() => installed?.remove());

interface Template {
  readonly Resources: {
    readonly [id: string]: {
      readonly Type: string;
      readonly Properties?: { readonly [name: string]: unknown };
    };
  };
  readonly Outputs: {
    readonly [id: string]: {
      readonly Value: { readonly 'Fn::Join'?: readonly [string, readonly unknown[]] };
    };
  };
}

const templateOf = async (folder: string, stack: string): Promise<Template> =>
  JSON.parse(await readFile(join(installed.folder, folder, `${stack}.template.json`), 'utf8'));
const typesOf = ({ Resources }: Template): readonly string[] =>
  [...new Set(Object.values(Resources).map((r) => r.Type))].sort();

it('an app in TypeScript compiles against the package, whose declarations need nothing that is not installed', async () => {
  const { code, out } = await installed.run('npx', 'tsc', '-p', '.');
  expect(out).toBe('');
  expect(code).toBe(0);
});

it('a hub and its clusters in stacks of their own are synthesized, with the functions as the package has them', async () => {
  const { code, err } = await installed.run(
    'npx',
    'cdk',
    'synth',
    '--quiet',
    '--app',
    'node built/hub-app.js',
    '--output',
    'hub.out',
  );
  expect({ code, err: code === 0 && !err.includes('Bundling asset') ? '' : err }).toEqual({
    code: 0,
    err: '',
  });
  const hub = await templateOf('hub.out', 'Platform');
  expect(typesOf(hub)).toEqual(
    expect.arrayContaining([
      'AWS::Lambda::Function',
      'AWS::DynamoDB::GlobalTable',
      'AWS::CloudWatch::Dashboard',
    ]),
  );
  expect(Object.keys(hub.Outputs)).toEqual(
    expect.arrayContaining(
      ['HubTableName', 'HubRegisterFunctionArn'].map((o) => expect.stringContaining(o.slice(3))),
    ),
  );
  expect(typesOf(await templateOf('hub.out', 'Factory'))).toEqual(
    expect.arrayContaining(['AWS::SQS::Queue', 'Custom::FleetEndpointsCluster']),
  );
  const shop = typesOf(await templateOf('hub.out', 'Shop'));
  expect(shop).toEqual(
    expect.arrayContaining(['AWS::EKS::PodIdentityAssociation', 'Custom::AWSCDK-EKS-KubernetesResource']),
  );
  const assets = (await readdir(join(installed.folder, 'hub.out'))).filter((name) =>
    name.startsWith('asset.'),
  );
  const shipped = await readFile(
    join(installed.folder, 'node_modules/fleet-endpoints/dist/functions/worker/index.mjs'),
    'utf8',
  );
  const codes = await Promise.all(
    assets.map((name) =>
      readFile(join(installed.folder, 'hub.out', name, 'index.mjs'), 'utf8').catch(() => ''),
    ),
  );
  expect(codes).toContain(shipped);
});

it('an app in JavaScript has a hub without a name, whose relay’s manifest comes from the stack’s outputs', async () => {
  const { code, err } = await installed.run(
    'npx',
    'cdk',
    'synth',
    '--quiet',
    '--app',
    'node development-app.mjs',
    '--output',
    'development.out',
  );
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  const { Resources, Outputs } = await templateOf('development.out', 'Development');
  const table = Object.values(Resources).find((r) => r.Type === 'AWS::DynamoDB::GlobalTable') as
    | { readonly DeletionPolicy?: string }
    | undefined;
  expect(table?.DeletionPolicy).toBe('Delete');
  const queues = Object.values(Resources).flatMap((r) =>
    r.Type === 'AWS::SQS::Queue' ? [r.Properties?.['QueueName'] ?? ''] : [],
  );
  expect(queues).toContainEqual(expect.stringMatching(/^Develo\w+-kind-events$/));
  // A deploy would have written this output.
  const [name = '', { Value: settings } = { Value: {} }] =
    Object.entries(Outputs).find(([id]) => id.includes('RelaySettings')) ?? [];
  const [, parts] = settings['Fn::Join'] ?? ['', []];
  const text = parts
    .map((part) =>
      typeof part === 'string' ? part : 'https://sqs.eu-central-1.amazonaws.com/111122223333/q',
    )
    .join('');
  await writeFile(
    join(installed.folder, 'development.json'),
    JSON.stringify({ Development: { [name]: text } }),
  );
  const manifest = await installed.run(
    'npx',
    'fleet-endpoints',
    'relay',
    'manifest',
    'kind',
    '--quick-start',
    '--outputs',
    'development.json',
  );
  expect(manifest).toMatchObject({
    code: 0,
    out: expect.stringContaining('value: https://sqs.eu-central-1.amazonaws.com/111122223333/q'),
  });
});

it('the stack of a cluster in its owner’s app knows the hub by its outputs', async () => {
  const { code } = await installed.run(
    'npx',
    'cdk',
    'synth',
    '--quiet',
    '--app',
    'node built/cluster-app.js',
    '--output',
    'cluster.out',
  );
  expect(code).toBe(0);
  const { Resources } = await templateOf('cluster.out', 'ShopDev');
  const registration = Object.values(Resources).find((r) => r.Type === 'Custom::FleetEndpointsCluster');
  expect(registration?.Properties?.['ServiceToken']).toBe(
    'arn:aws:lambda:eu-central-1:111122223333:function:register',
  );
  const queues = Object.values(Resources).flatMap((r) =>
    r.Type === 'AWS::SQS::Queue' ? [r.Properties?.['QueueName']] : [],
  );
  expect(queues.sort()).toEqual([
    'Fleet-shop-dev-events',
    'Fleet-shop-dev-events-dead',
    'Fleet-shop-dev-syncs',
    'Fleet-shop-dev-syncs-dead',
  ]);
});

/**
 * Commands that need an AWS account or a cluster. test:deploy runs them on the local cloud and on real
 * control planes.
 */
const elsewhere = /^(npx cdk (bootstrap|deploy)|kubectl) /;

it('the five steps of docs/operate/getting-started.md work from an empty folder on', async () => {
  const page = await readFile('docs/operate/getting-started.md', 'utf8');
  const steps = page.slice(page.indexOf('## Five steps'), page.indexOf('**5. Look.**'));
  const commands = [...steps.matchAll(/^```bash\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  expect(commands.length).toBeGreaterThan(8);
  const fresh = join(installed.folder, 'fresh');
  await mkdir(fresh);
  await cp(installed.tarball, join(fresh, 'fleet-endpoints-0.1.0.tgz'));
  for (const command of commands) {
    if (elsewhere.test(`${command} `)) continue;
    // A deploy would have written these outputs.
    const outputs = {
      EventsQueueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/q',
      RelayRoleArn: 'arn:aws:iam::111122223333:role/r',
    };
    if (command.includes('relay manifest'))
      await writeFile(
        join(fresh, 'cdk.out/outputs.json'),
        JSON.stringify({ 'FleetEndpoints-cluster-shop-dev': outputs }),
      );
    const { code, err } = await installed.run('bash', '-c', `cd fresh && ${command}`);
    expect({ command, code, err: code === 0 ? '' : err }).toEqual({ command, code: 0, err: '' });
  }
  const stacks = (await readdir(join(fresh, 'cdk.out')))
    .filter((name) => name.endsWith('.template.json'))
    .sort();
  expect(stacks).toEqual(
    ['cluster-shop-dev', 'hub', 'snapshot'].map((name) => `FleetEndpoints-${name}.template.json`),
  );
  expect(await readFile(join(fresh, 'relay.yaml'), 'utf8')).toContain('kind: Deployment');
  const clusters = await readFile(join(fresh, 'clusters.yaml'), 'utf8');
  await writeFile(join(fresh, 'canary.yaml'), clusters.replace('name: FleetEndpoints', 'name: Canary'));
  const list =
    commandsOf('docs/operate/upgrading.md').find(({ command }) => command.startsWith('npx cdk list'))
      ?.command ?? '';
  const listed = (await installed.run('bash', '-c', `cd fresh && ${list}`)).out.trim().split('\n');
  expect(listed.map((line) => line.split(' ')[0]).sort()).toEqual(
    ['cluster-shop-dev', 'hub', 'snapshot'].map((name) => `Canary-${name}`),
  );
  const again = await installed.run('bash', '-c', 'cd fresh && npx fleet-endpoints config init');
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('nothing was written') });
});
