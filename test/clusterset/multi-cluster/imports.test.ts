/**
 * A set of three clusters on real control planes with their own controllers on: b exports and imports as a
 * and c do; c knows IPv4 alone.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Fleet, type Scenario, startFleet } from './fleet.ts';
import { conflicts } from './scenarios/conflicts.ts';
import { conformance } from './scenarios/conformance.ts';
import { exports } from './scenarios/exports.ts';
import { families } from './scenarios/families.ts';
import { locality } from './scenarios/locality.ts';
import { ownership } from './scenarios/ownership.ts';

describe('services across three clusters', { concurrent: true, timeout: 240_000 }, () => {
  let fleet: Fleet | undefined;
  let hasFailed = false;
  beforeAll(async () => {
    fleet = await startFleet({
      members: { a: {}, b: {}, c: { serviceRange: '10.0.0.0/16' } },
      sameness: 'all',
    });
  });
  afterAll(async () => {
    if (hasFailed) console.log(fleet?.lines.slice(-80).join('\n'));
    await fleet?.stop();
  });

  const scenario: Scenario = (fact, body) =>
    it(fact, async ({ onTestFailed }) => {
      onTestFailed(() => {
        hasFailed = true;
      });
      await body(await (fleet as Fleet).world());
    });

  for (const declare of [exports, conflicts, families, locality, ownership, conformance]) declare(scenario);
});
