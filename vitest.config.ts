import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/**/*.test.ts'], exclude: ['test/cluster/**', 'test/console/**'], maxConcurrency: 12, testTimeout: 20_000 },
});
