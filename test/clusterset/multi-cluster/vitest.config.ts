import { defineConfig } from 'vitest/config';
import { conformanceReporter } from './conformance-report.ts';

/**
 * Several real control planes and one hub: `npm run test:multi-cluster`. The first run builds the control
 * plane.
 */
export default defineConfig({
  test: {
    include: ['test/clusterset/multi-cluster/**/*.test.ts'],
    reporters: ['default', conformanceReporter('multi-cluster', ({ name }) => /^spec \d+: /.test(name))],
    maxConcurrency: 6,
    testTimeout: 300_000,
    hookTimeout: 15 * 60_000,
    // Two or three control planes at a time are enough for the machine.
    fileParallelism: false,
  },
});
