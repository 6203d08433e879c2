/** A new app: what `config init` writes, as the CDK runs it. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Aws } from '#infra/cli/account/aws-cli.ts';
import { describeEks } from '#infra/cli/account/eks-cluster.ts';
import { initApp } from '#infra/cli/act/init-app.ts';
import { loadConfig } from '#infra/config/load-config.ts';
import { authority, authorityData } from '#test/infra/clusters-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'init-app-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const url = 'https://0123456789abcdef0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com';
const eksAnswers =
  (asked: string[], accessConfig: object = { authenticationMode: 'API_AND_CONFIG_MAP' }): Aws =>
  async (...args) => {
    asked.push(args.join(' '));
    const arn = 'arn:aws:eks:eu-west-1:111122223333:cluster/shop';
    return {
      cluster: {
        arn,
        endpoint: url,
        version: '1.34',
        certificateAuthority: { data: authorityData },
        accessConfig,
      },
    };
  };

describe('config init', () => {
  it('the clusters file has address, authority and region of an EKS cluster as AWS describes it', async () => {
    const asked: string[] = [];
    initApp(folder, 'shop-dev', await describeEks(eksAnswers(asked), 'shop', 'eu-west-1'));
    expect(asked).toEqual(['eks describe-cluster --name shop --region eu-west-1']);
    const { hub, clusters } = loadConfig(join(folder, 'clusters.yaml'), 'FILE');
    expect(hub.region).toBe('eu-west-1');
    expect(clusters).toMatchObject([
      {
        id: 'shop-dev',
        api: { url, ca: authority, auth: { type: 'eks', clusterName: 'shop', accessEntry: true } },
        relay: { identity: { type: 'pod-identity', clusterName: 'shop' } },
      },
    ]);
  });

  it('the output names the command without which EKS takes no access entries', async () => {
    const lines = initApp(folder, 'shop-dev', await describeEks(eksAnswers([], {}), 'shop'));
    expect(lines.at(-2)).toMatch(/^then: npx fleet-endpoints config check; /);
    expect(lines.at(-1)).toContain(
      'aws eks update-cluster-config --name shop --region eu-west-1 --access-config authenticationMode=API_AND_CONFIG_MAP',
    );
  });

  it('the folder stays empty for an EKS cluster that has no API server yet', async () => {
    await expect(describeEks(async () => ({ cluster: {} }), 'shop')).rejects.toThrow(
      'the EKS cluster shop has no API server',
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('git leaves packages and outputs out, by a .gitignore of a repository that has none yet', () => {
    initApp(folder, 'shop-dev');
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('node_modules/\ncdk.out/\n');
    const repository = join(folder, 'repository');
    mkdirSync(repository);
    writeFileSync(join(repository, '.gitignore'), '*.log\n');
    const written = initApp(repository, 'shop-dev').filter((text) => text.startsWith('wrote '));
    expect(written).toEqual(['clusters.yaml', 'app.mjs', 'cdk.json'].map((name) => `wrote ${name}`));
    expect(readFileSync(join(repository, '.gitignore'), 'utf8')).toBe('*.log\n');
  });

  it('the app that it writes deploys the hub of the clusters file that the context names, and prints which', () => {
    initApp(folder, 'shop-dev');
    writeFileSync(
      join(folder, 'canary.yaml'),
      readFileSync(join(folder, 'clusters.yaml'), 'utf8').replace('FleetEndpoints', 'Canary'),
    );
    const library = join(folder, 'node_modules/fleet-endpoints');
    mkdirSync(library, { recursive: true });
    writeFileSync(join(library, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(
      join(library, 'index.js'),
      `export * from '${join(process.cwd(), 'infra/package/index.ts')}';`,
    );
    for (const name of ['aws-cdk-lib', 'constructs'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
    const synth = (context: object): readonly string[] => {
      const env = {
        ...process.env,
        CDK_OUTDIR: join(folder, 'cdk.out'),
        CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [] }),
        CDK_VALIDATION: 'false',
        NODE_NO_WARNINGS: '1',
      };
      rmSync(join(folder, 'cdk.out'), { recursive: true, force: true });
      // Standard error is where the CDK passes on what its app prints.
      const command = `'${process.execPath}' app.mjs 2>&1`;
      const printed = execFileSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' }).trim();
      const templates = readdirSync(join(folder, 'cdk.out')).flatMap(
        (name) => /^(\w+)-hub\.template\.json$/.exec(name)?.[1] ?? [],
      );
      return [printed, ...templates];
    };
    expect(synth({})).toEqual(['hub FleetEndpoints of clusters.yaml', 'FleetEndpoints']);
    expect(synth({ clusters: 'canary.yaml' })).toEqual(['hub Canary of canary.yaml', 'Canary']);
    writeFileSync(join(folder, 'typo.yaml'), 'hub: { nam: Canary }');
    const failed = spawnSync('sh', ['-c', `'${process.execPath}' app.mjs`], {
      cwd: folder,
      env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ clusters: 'typo.yaml' }) },
      encoding: 'utf8',
    });
    expect([failed.status, failed.stderr.split('\n')[0]]).toEqual([
      1,
      expect.stringMatching(/^typo\.yaml:1:8: hub: unknown key "nam"/),
    ]);
    expect(failed.stderr).not.toMatch(/^ +at /m);
  });
});
