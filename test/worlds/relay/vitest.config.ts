import { defineConfig } from 'vitest/config';

/**
 * Lists and events of the largest objects within the relay's memory: `npm run test:large-objects`. Each
 * starts a relay of its own, with both cores busy.
 */
export default defineConfig({
  test: {
    include: ['test/worlds/relay/large-objects.test.ts'],
    testTimeout: 60_000,
  },
});
