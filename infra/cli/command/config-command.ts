import { Command } from 'commander';
import { counted } from '#infra/cli/terminal/counted.ts';
import type { Config } from '#infra/config/config.ts';
import { isJson, type OutputChoice, withJson } from './arguments/output-option.ts';

interface CheckOptions extends OutputChoice {
  readonly account?: boolean;
  readonly policy?: boolean;
}

export const configCommand = (): Command =>
  new Command('config')
    .summary('the clusters file')
    .description('The clusters file: creates it, checks it, and prints its schema for editors.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ fleet-endpoints config init shop-dev --eks shop-dev\n  $ fleet-endpoints config check clusters.yaml',
    )
    .addCommand(init())
    .addCommand(check())
    .addCommand(schema());

const init = (): Command =>
  new Command('init')
    .description('writes clusters.yaml, app.mjs, cdk.json and .gitignore: a first cluster in shadow')
    .argument('[cluster]', 'its id', 'shop-dev')
    .option('--eks <name>', "an EKS cluster, whose API server's address and authority AWS is asked for")
    .option('--region <name>', "of the EKS cluster; the credentials' by default")
    .action(async (cluster: string, { eks, region }: { readonly eks?: string; readonly region?: string }) => {
      const { initApp } = await import('#infra/cli/act/init-app.ts');
      const { awsCli } = await import('#infra/cli/account/aws-cli.ts');
      const { describeEks } = await import('#infra/cli/account/eks-cluster.ts');
      for (const line of initApp(
        process.cwd(),
        cluster,
        eks ? await describeEks(awsCli, eks, region) : undefined,
      ))
        console.log(line);
    });

const schema = (): Command =>
  new Command('schema').description('prints a JSON Schema of the file, for editors').action(async () => {
    const { configSchema } = await import('#infra/config/schema-text.ts');
    console.log(JSON.stringify(configSchema(), null, 2));
  });

const check = (): Command =>
  withJson(new Command('check'), 'the values as read, defaults filled in; with --account its answers')
    .description('prints every mistake with its line and column')
    .argument('[file]', 'the clusters file', 'clusters.yaml')
    .option('--account', 'asks AWS what no synthesis knows: quotas, EKS, topics, keys, secrets')
    .option('--policy', 'prints the rights in IAM that --account needs')
    .action(async (file: string, { account, policy, ...output }: CheckOptions) => {
      const json = isJson(output);
      const { loadConfig } = await import('#infra/config/load-config.ts');
      const config = loadConfig(file, 'config check FILE');
      if (policy) return printPolicy(config);
      if (account) return askAccount(config, json);
      const { hub, clusters } = config;
      console.log(
        json
          ? JSON.stringify(config, null, 2)
          : `${file}: hub ${hub.name}, ${counted(clusters.length, 'cluster')}, no mistakes`,
      );
      for (const topic of ['pageTopicArn', 'ticketTopicArn'] as const)
        if (!hub[topic])
          console.error(`hub.${topic} is missing: nobody hears of its alarms (docs/operate/monitoring.md)`);
    });

async function printPolicy(config: Config): Promise<void> {
  const { accountPolicy } = await import('#infra/cli/account/account-check.ts');
  console.log(JSON.stringify(accountPolicy(config), null, 2));
}

/** The exit code is 1 if an answer is wrong. */
async function askAccount(config: Config, json: boolean): Promise<void> {
  const { checkAccount, findingLines, reachApi } = await import('#infra/cli/account/account-check.ts');
  const { awsCli } = await import('#infra/cli/account/aws-cli.ts');
  const findings = await checkAccount({ aws: awsCli, reach: reachApi, now: Date.now }, config);
  console.log(json ? JSON.stringify(findings, null, 2) : findings.flatMap(findingLines).join('\n'));
  if (findings.some(({ verdict }) => verdict === 'wrong')) process.exitCode = 1;
}
