/** The bundles of functions and relay stay small. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { budgets, bundle } from '#infra/build.ts';
import { bundles } from '#infra/bundle-options.ts';

it.each(bundles.filter((b) => existsSync(b.entry)).map((b) => [b.name, b] as const))(
  'the bundle of %s stays within its budget',
  async (name, each) => {
    const { length } = (await bundle(each)).code;
    expect(length).toBeLessThan(budgets[name] ?? 0);
  },
);
