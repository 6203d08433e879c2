import { readFileSync } from 'node:fs';

export interface PageCommand {
  readonly page: string;
  /** One command line: continued lines are joined, and comments are left out. */
  readonly command: string;
}

/** Returns the command lines in the code blocks of a page that a shell runs: those of the language bash, or of none. */
export function commandsOf(page: string): readonly PageCommand[] {
  const lines: string[] = [];
  let language: string | undefined;
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    const [, opened] = /^\s*```(\w*)/.exec(line) ?? [];
    if (opened !== undefined) language = language === undefined ? opened : undefined;
    else if (language === '' || language === 'bash') lines.push(line.trim());
  }
  return lines
    .join('\n')
    .replace(/\\\n/g, '')
    .replace(/\|\n/g, '| ')
    .split('\n')
    .map((line) => line.replace(/\s+#\s.*$/, '').trim())
    .filter((line) => line !== '')
    .map((command) => ({ page, command }));
}
