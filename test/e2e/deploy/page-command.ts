import type { Environment, LocalCloud } from '#test/support/aws/local-cloud.ts';
import { commandsOf } from '#test/support/page-commands.ts';
import { run } from './operator.ts';

/** Commands of AWS in the operators' pages that test:deploy runs, by their beginnings. */
export const pageCommands = [
  'export TABLE_NAME=$(aws cloudformation describe-stacks',
  'aws cloudformation update-termination-protection',
  'aws eks list-pod-identity-associations',
  'aws eks update-pod-identity-association',
  'aws eks delete-pod-identity-association',
  'aws dynamodb restore-table-from-backup',
  'until aws dynamodb wait table-exists',
  'aws dynamodb update-table --table-name $TABLE_NAME --deletion-protection-enabled',
  'aws dynamodb update-table --table-name $TABLE_NAME --no-deletion-protection-enabled',
  'aws dynamodb update-continuous-backups',
  'aws dynamodb update-time-to-live',
  'aws dynamodb create-table',
  'aws dynamodb delete-table',
  'aws secretsmanager delete-secret',
  'aws iam delete-open-id-connect-provider',
  'aws secretsmanager create-secret',
  'aws secretsmanager put-secret-value',
  'aws eks create-addon',
  'aws lambda get-account-settings',
  'aws iam create-open-id-connect-provider',
  'aws dynamodb restore-table-to-point-in-time',
  'aws dynamodb list-tables',
] as const;

/**
 * Cuts the command that begins so out of the pages and runs it as the account's administrator. `values`
 * replace the words that stand for the reader's own, `env` are variables of the shell, and the same shell
 * runs `next` afterwards.
 */
export async function pageCommand(
  cloud: LocalCloud,
  beginning: (typeof pageCommands)[number],
  {
    values = {},
    env = {},
    next = '',
  }: { readonly values?: Environment; readonly env?: Environment; readonly next?: string } = {},
): Promise<string> {
  const found = ['docs/operate/getting-started.md', 'docs/operate/upgrading.md', 'docs/operate/runbook.md']
    .flatMap(commandsOf)
    .filter((c) => c.command.startsWith(beginning));
  const [first] = found;
  if (!first) throw new Error(`no page has a command that begins with ${beginning}`);
  const command = Object.entries(values).reduce(
    (text, [word, value]) => text.replace(new RegExp(`(?<=[ =])${word}(?= |$)`, 'g'), value),
    first.command,
  );
  return (
    await run('bash', ['-c', `set -e\n${command}\n${next}`], { env: { ...cloud.administrator, ...env } })
  ).stdout;
}
