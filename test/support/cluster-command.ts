import { execFile } from 'node:child_process';

/** `fleet-endpoints cluster …` against the local run of that process id. Resolves to its output. */
export function clusterCommand(pid: number, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['infra/cli/command/fleet-endpoints.main.ts', 'cluster', ...words],
      { env: { ...process.env, HUB: String(pid) } },
      (error, stdout, stderr) =>
        error
          ? reject(new Error(`${words.join(' ')}: ${stdout}${stderr}`, { cause: error }))
          : resolve(stdout + stderr),
    );
  });
}
