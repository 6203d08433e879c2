import { defineConfig } from 'vitest/config';

/** Tests that need a browser: `npm run test:console`. */
export default defineConfig({
  test: {
    include: ['test/e2e/console/**/*.test.ts', 'test/clusterset/console/**/*.test.ts'],
    // A machine that does other things beside must not decide.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    fileParallelism: false,
  },
});
