import { defineConfig } from 'vitest/config';

/** Tests that need Java and Maven: `npm run test:contract-java`. The first run downloads the servers. */
export default defineConfig({
  test: {
    include: ['test/unit/contract/java/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 5 * 60_000,
  },
});
