import { configDefaults, defineConfig } from 'vitest/config';
import { conformanceReporter } from '../../clusterset/multi-cluster/conformance-report.ts';

/** Files of `npm run test:packets -- --all` alone. */
const long = [
  'test/cluster/packets/policies.test.ts',
  ...['preferences', 'lost-cluster', 'conformance'].map((name) => `test/clusterset/packets/${name}.test.ts`),
];

/** Real packets: `npm run test:packets` runs it in namespaces of its own. */
export default defineConfig({
  test: {
    include: ['test/cluster/packets/**/*.test.ts', 'test/clusterset/packets/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env['PACKETS'] === 'all' ? [] : long)],
    reporters: [
      'default',
      conformanceReporter('packets', ({ module }) => module.moduleId.endsWith('/conformance.test.ts')),
    ],
    globalSetup: 'test/cluster/packets/setup.ts',
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Times are measured: two control planes at once would share two cores.
    fileParallelism: false,
  },
});
