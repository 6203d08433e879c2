import { defineConfig } from 'vitest/config';

/** What needs a browser: `npm run test:console`. */
export default defineConfig({
  test: { include: ['test/console/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 120_000, fileParallelism: false },
});
