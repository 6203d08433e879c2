import { defineConfig } from 'vitest/config';

/** Real packets: `npm run test:packets` runs it in namespaces of its own. */
export default defineConfig({
  test: {
    include: ['test/packets/**/*.test.ts'],
    globalSetup: 'test/packets/setup.ts',
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Times are measured: two control planes at once would share two cores.
    fileParallelism: false,
  },
});
