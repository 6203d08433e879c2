/** The constructs as an app outside of this tree uses them: typed, synthesized on the machine's own Node, and with nothing bundled there. */
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Installed, install } from './installed.ts';

let installed: Installed;
beforeAll(async () => {
  const { devDependencies: known } = JSON.parse(await readFile('package.json', 'utf8'));
  const peers = ['aws-cdk-lib', 'constructs', 'aws-cdk', '@types/node'].map((name) => `${name}@${known[name]}`);
  // What `cdk init` takes.
  peers.push('typescript@5.9.3');
  installed = await install(peers, ['--omit=optional']);
  await cp('test/package/example', installed.folder, { recursive: true });
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: false, types: ['node'], outDir: 'built' };
  await writeFile(join(installed.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['hub-app.ts', 'cluster-app.ts'] }));
});
afterAll(() => installed?.remove());

interface Template {
  readonly Resources: { readonly [id: string]: { readonly Type: string; readonly Properties?: { readonly [name: string]: unknown } } };
  readonly Outputs: { readonly [id: string]: unknown };
}

const templateOf = async (folder: string, stack: string): Promise<Template> =>
  JSON.parse(await readFile(join(installed.folder, folder, `${stack}.template.json`), 'utf8'));
const typesOf = ({ Resources }: Template): readonly string[] => [...new Set(Object.values(Resources).map((r) => r.Type))].sort();

it('an app in TypeScript compiles against the package, whose declarations need nothing that is not installed', async () => {
  const { code, out } = await installed.run('npx', 'tsc', '-p', '.');
  expect(out).toBe('');
  expect(code).toBe(0);
});

it('a hub and its cluster in stacks of their own are synthesized, with the functions as the package has them', async () => {
  const { code, err } = await installed.run('npx', 'cdk', 'synth', '--quiet', '--app', 'node built/hub-app.js', '--output', 'hub.out');
  expect({ code, err: err.includes('Bundling asset') }).toEqual({ code: 0, err: false });
  const hub = await templateOf('hub.out', 'Platform');
  expect(typesOf(hub)).toEqual(expect.arrayContaining(['AWS::Lambda::Function', 'AWS::DynamoDB::GlobalTable', 'AWS::CloudWatch::Dashboard']));
  expect(Object.keys(hub.Outputs)).toEqual(
    expect.arrayContaining(['HubTableName', 'HubRegisterFunctionArn'].map((o) => expect.stringContaining(o.slice(3)))),
  );
  expect(typesOf(await templateOf('hub.out', 'Factory'))).toEqual(expect.arrayContaining(['AWS::SQS::Queue', 'Custom::FleetEndpointsCluster']));
  const assets = (await readdir(join(installed.folder, 'hub.out'))).filter((name) => name.startsWith('asset.'));
  const shipped = await readFile(join(installed.folder, 'node_modules/fleet-endpoints/dist/functions/sync/index.mjs'), 'utf8');
  const codes = await Promise.all(assets.map((name) => readFile(join(installed.folder, 'hub.out', name, 'index.mjs'), 'utf8').catch(() => '')));
  expect(codes).toContain(shipped);
});

it('the stack of a cluster in its owner’s app knows the hub by its outputs', async () => {
  const { code } = await installed.run('npx', 'cdk', 'synth', '--quiet', '--app', 'node built/cluster-app.js', '--output', 'cluster.out');
  expect(code).toBe(0);
  const { Resources } = await templateOf('cluster.out', 'ShopDev');
  const registration = Object.values(Resources).find((r) => r.Type === 'Custom::FleetEndpointsCluster');
  expect(registration?.Properties?.['ServiceToken']).toBe('arn:aws:lambda:eu-central-1:111122223333:function:register');
  const queues = Object.values(Resources).flatMap((r) => (r.Type === 'AWS::SQS::Queue' ? [r.Properties?.['QueueName']] : []));
  expect(queues.sort()).toEqual(['Fleet-shop-dev-events', 'Fleet-shop-dev-events-dead', 'Fleet-shop-dev-syncs', 'Fleet-shop-dev-syncs-dead']);
});

it('`config init` begins an app that is synthesized as it is, and overwrites nothing', async () => {
  expect(await installed.run('npx', 'fleet-endpoints', 'config', 'init')).toMatchObject({
    code: 0,
    out: 'wrote clusters.yaml\nwrote app.mjs\nwrote cdk.json\n',
  });
  expect(await installed.run('npx', 'fleet-endpoints', 'config', 'check')).toMatchObject({ code: 0 });
  expect(await installed.run('npx', 'cdk', 'synth', '--quiet')).toMatchObject({ code: 0 });
  const stacks = (await readdir(join(installed.folder, 'cdk.out'))).filter((name) => name.endsWith('.template.json')).sort();
  expect(stacks).toEqual(['cluster-shop-dev', 'hub', 'snapshot'].map((name) => `FleetEndpoints-${name}.template.json`));
  expect(await installed.run('npx', 'fleet-endpoints', 'config', 'init')).toMatchObject({
    code: 2,
    err: expect.stringContaining('nothing was written'),
  });
});
