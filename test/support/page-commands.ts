import { readFileSync } from 'node:fs';

export interface PageCommand {
  readonly page: string;
  /** One command line: continued lines are joined, and comments are left out. A loop is one command. */
  readonly command: string;
}

/** The pages whose commands a test runs, or which are listed with a reason. */
export const operatorsPages: readonly string[] = [
  'README.md',
  ...['opt-in', 'clusterset'].map((page) => `docs/use/${page}.md`),
  ...['getting-started', 'gitops', 'monitoring', 'upgrading', 'runbook'].map(
    (page) => `docs/operate/${page}.md`,
  ),
];

/** Returns the commands of a page: the lines of code blocks that a shell runs, and those in its text. */
export const commandsOf = (page: string): readonly PageCommand[] => [...linesOf(page), ...spansOf(page)];

const programs = /^(aws|cdk|docker|fleet-endpoints|git|kubectl|npm|npx) \S/;

/** Spans of code in the text that begin with a program. A span may be broken into lines. */
function spansOf(page: string): readonly PageCommand[] {
  const text = readFileSync(page, 'utf8')
    .replace(/^\s*```[\s\S]*?^\s*```/gm, '')
    .replace(/\n\s*/g, ' ');
  return [...text.matchAll(/`([^`]+)`/g)].flatMap(([, command = '']) =>
    programs.test(command) ? [{ page, command }] : [],
  );
}

/** Lines of code blocks of the language bash, or of none. */
function linesOf(page: string): readonly PageCommand[] {
  const lines: string[] = [];
  let language: string | undefined;
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    const [, opened] = /^\s*```(\w*)/.exec(line) ?? [];
    if (opened !== undefined) language = language === undefined ? opened : undefined;
    else if (language === '' || language === 'bash') lines.push(line.trim());
  }
  const text = lines
    .join('\n')
    .replace(/\\\n/g, '')
    .replace(/\|\n/g, '| ')
    .replace(/\s+#\s.*$/gm, '');
  return (text.match(/^for [\s\S]*?^done(?:; done)?$|.+/gm) ?? []).map((command) => ({
    page,
    command: command.trim(),
  }));
}
