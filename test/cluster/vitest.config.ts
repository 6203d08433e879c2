import { defineConfig } from 'vitest/config';

/** Tests that need the real control plane: `npm run test:cluster`. The first run builds it. */
export default defineConfig({
  test: {
    include: [
      'test/cluster/*.test.ts',
      'test/cluster/{answers,opt-in}/**/*.test.ts',
      'test/clusterset/cluster/**/*.test.ts',
    ],
    maxConcurrency: 12,
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 15 * 60_000,
    // One control plane at a time: two would only slow each other down.
    fileParallelism: false,
  },
});
