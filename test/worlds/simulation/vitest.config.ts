import { defineConfig } from 'vitest/config';

/**
 * The deliberate bugs that the simulation must find: `npm run test:mutants`. Seeds that are out of date cost
 * it minutes (CONTRIBUTING.md).
 */
export default defineConfig({
  test: {
    include: ['test/worlds/simulation/mutants/mutants.test.ts'],
    testTimeout: 300_000,
    execArgv: ['--max-semi-space-size=64'],
  },
});
