/** Errors of the way to a deployed hub name the hub, and what a user can set. */
import { expect, it } from 'vitest';
import { adviceOn } from '#infra/cli/hub/hub-errors.ts';

const env = { AWS_REGION: 'eu-west-1', AWS_PROFILE: 'prod' };

it.each([
  [
    { name: 'Error', message: 'Region is missing' },
    {},
    /no AWS region is set for profile default: set AWS_REGION/,
  ],
  [
    { name: 'CredentialsProviderError', message: 'Could not load credentials' },
    env,
    /no AWS credentials for profile prod .*AWS_PROFILE/,
  ],
  [
    { name: 'ExpiredTokenException', message: 'expired' },
    env,
    /refused the credentials of profile prod in region eu-west-1/,
  ],
  [
    { name: 'ResourceNotFoundException', message: 'not found' },
    env,
    /no such table in region eu-west-1, profile prod: check --table/,
  ],
  [
    { name: 'AccessDeniedException', message: 'not authorized: dynamodb:GetItem' },
    env,
    /not authorized: dynamodb:GetItem \(region eu-west-1.*docs\/operate\/security\.md/,
  ],
  [
    { name: 'Error', message: 'getaddrinfo ENOTFOUND dynamodb.eu-wst-1.amazonaws.com' },
    env,
    /no answer .*check the network and AWS_REGION/,
  ],
])('%j is answered with the setting to change', (error, given, expected) => {
  expect(adviceOn(error, given)).toMatch(expected);
});

it('an error of the table’s content stays as it is', () => {
  expect(adviceOn({ name: 'ValidationException', message: 'x' }, env)).toBeUndefined();
});
