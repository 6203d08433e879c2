/** Differences between two versions of the controllers' sources. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { go } from '#test/support/control-plane/kubernetes-module.ts';

/** The packages whose behaviour docs/reference/parity.md specifies, by module. */
const packages = [
  {
    module: 'k8s.io/kubernetes',
    paths: ['pkg/controller/endpoint', 'pkg/controller/endpointslice', 'pkg/api/v1/endpoints'],
  },
  { module: 'k8s.io/endpointslice', paths: [''] },
] as const;

const excluded = ['*_test.go', 'zz_generated*', 'go.mod', 'go.sum', '*.md', 'OWNERS'].map(
  (name) => `--exclude=${name}`,
);

/** Lines of unified diffs of the two Go modules' packages, without tests and generated files. */
export async function sourceDifferences(before: string, after: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { module, paths } of packages) {
    const folders = await Promise.all(
      [before, after].map(async (cwd) => (await go(['list', '-m', '-f', '{{.Dir}}', module], cwd)).trim()),
    );
    for (const path of paths) {
      const [a = '', b = ''] = folders.map((folder) => join(folder, path));
      // Programs like `diff` fail with code 1 where files differ.
      const { stdout } = await promisify(execFile)('diff', ['-ruN', ...excluded, a, b], {
        maxBuffer: 64 << 20,
      }).catch(answerOfDiff);
      lines.push(
        ...stdout
          .replaceAll(a, join(module, path))
          .replaceAll(b, join(module, path))
          .split('\n')
          .filter(isPrinted),
      );
    }
  }
  return lines;
}

function answerOfDiff(error: Error & { readonly code?: number; readonly stdout: string }): {
  readonly stdout: string;
} {
  if (error.code === 1) return error;
  throw error;
}

const isPrinted = (line: string): boolean =>
  line !== '' && !line.startsWith('diff ') && !line.startsWith('Only in');

/** Files with the numbers of their added and removed lines. */
export function summaryOf(lines: readonly string[]): readonly string[] {
  const files: { readonly name: string; added: number; removed: number }[] = [];
  for (const line of lines) {
    const file = files.at(-1);
    if (line.startsWith('+++ ')) files.push({ name: line.split(/\s/)[1] ?? '', added: 0, removed: 0 });
    else if (file && line.startsWith('+')) file.added++;
    else if (file && line.startsWith('-') && !line.startsWith('--- ')) file.removed++;
  }
  return files.map(({ name, added, removed }) => `${name}: +${added} -${removed}`);
}
