/** Suites of real control planes, on the Kubernetes version in KUBERNETES_VERSION. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const onOneCluster = 'test/cluster/vitest.config.ts';

export const suites = {
  'opt-in': { config: onOneCluster, files: ['test/cluster/opt-in/opt-in.test.ts'] },
  rights: {
    config: onOneCluster,
    files: ['cluster', 'cluster/opt-in', 'clusterset/cluster'].map(
      (folder) => `test/${folder}/writer-limits.test.ts`,
    ),
  },
  imports: {
    config: 'test/clusterset/multi-cluster/vitest.config.ts',
    files: ['test/clusterset/multi-cluster/imports.test.ts'],
  },
} as const;

export type SuiteName = keyof typeof suites;

/** The result, as a cell of the table that the command prints. */
export async function playSuite(name: SuiteName): Promise<string> {
  const { config, files } = suites[name];
  const folder = await mkdtemp(join(tmpdir(), 'versions-'));
  try {
    const report = join(folder, 'report.json');
    const args = [
      'vitest',
      'run',
      '--config',
      config,
      '--reporter=json',
      `--outputFile=${report}`,
      '--silent=true',
      ...files,
    ];
    await once(spawn('npx', args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
    const { success, numPassedTests, numTotalTests, testResults } = JSON.parse(
      await readFile(report, 'utf8'),
    ) as Report;
    for (const { name: file, message, assertionResults } of testResults) {
      if (message) console.log(`${name}: ${file}: ${message}`);
      for (const { status, fullName, failureMessages } of assertionResults)
        if (status === 'failed')
          console.log(`${name}: ${fullName}\n  ${failureMessages[0]?.split('\n').slice(0, 6).join('\n  ')}`);
    }
    return success && numPassedTests > 0
      ? `${numPassedTests} passed`
      : `FAILED: ${numTotalTests - numPassedTests} of ${numTotalTests}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
