import { defineConfig } from 'vitest/config';

/** `npm run test:package`: the package as its users get it. */
export default defineConfig({
  test: {
    include: ['test/e2e/package/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
