import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/local/compile-cache.ts';

// Tests start some sixty processes, most of them with the AWS SDK.
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/console/**', 'test/contract-java/**', 'test/package/**'],
    maxConcurrency: 12,
    testTimeout: 20_000,
    // However busy the machine is.
    expect: { poll: { timeout: 15_000 } },
    // Every core: the runner's default leaves one idle, which is half of two.
    maxWorkers: '100%',
    // No test replaces a module or keeps state in one, so files share what is loaded: a fifth of the whole time.
    isolate: false,
  },
});
