/** cdk-nag finds nothing in the stacks but the named exceptions. */
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { everything } from './clusters-file.ts';
import { fleetOf } from './fleet.ts';

it.each([
  ['', everything],
  [' without steps', 'hub: { rollout: at-once }'],
])(
  'the stacks have no finding of cdk-nag that is not acknowledged beside its resource%s',
  (_, yaml) => {
    const { app } = fleetOf(yaml);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
    expect(() => app.synth({ force: true })).not.toThrow();
  },
  60_000,
);
