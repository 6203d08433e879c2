import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { fleetOf } from './fleet.ts';

it('has no finding of cdk-nag that is not acknowledged beside its resource', () => {
  const { app } = fleetOf();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  expect(() => app.synth({ force: true })).not.toThrow();
}, 60_000);
