import { defineConfig } from 'vitest/config';

/**
 * Several real control planes and one hub: `npm run test:multi-cluster`. The first run builds the control
 * plane.
 */
export default defineConfig({
  test: {
    include: ['test/multi-cluster/**/*.test.ts'],
    maxConcurrency: 6,
    testTimeout: 300_000,
    hookTimeout: 15 * 60_000,
    // Two or three control planes at a time are enough for the machine.
    fileParallelism: false,
  },
});
