import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compileCache } from './infra/local/processes/compile-cache.ts';

// Tests start some sixty processes, most of them with the AWS SDK.
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

/**
 * Ten seconds of a core and more. One that begins last would keep one core busy and leave the others idle; by
 * default these small files come last.
 */
const long = [
  'worlds/simulation/simulation',
  'unit/infra/local/start',
  'unit/infra/cli/act/cluster',
  'worlds/conformance/conformance',
  'worlds/conformance/opt-in',
  'infra/permissions',
  'unit/sweep/in-time',
  'unit/infra/local/supervisor',
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = long.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return at < 0 ? long.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/cluster/*.test.ts',
      'test/cluster/{answers,opt-in,packets}/**',
      'test/clusterset/{cluster,console,multi-cluster,packets}/**',
      'test/e2e/{console,package}/**',
      'test/unit/contract/java/**',
      'test/worlds/simulation/mutants/mutants.test.ts',
      'test/worlds/relay/large-objects.test.ts',
    ],
    maxConcurrency: 12,
    // Limits end a hang, on a machine of any load: no test is about them.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Every core: the runner's default leaves one idle, which is half of two.
    maxWorkers: '100%',
    // No test replaces a module or keeps state in one, so files share what is loaded: a fifth of the whole
    // time.
    isolate: false,
    sequence: { sequencer: LongFirst },
    // Most objects of a world in virtual time die young: a tenth of the whole time.
    execArgv: ['--max-semi-space-size=64'],
  },
});
