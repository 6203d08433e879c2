import { expect, it } from 'vitest';
import { type Controller, controllers } from '#shared/kube/controllers.ts';
import { backoffSeconds, maxRetries } from '#shared/workqueue/rules/backoff.ts';

const waits = (controller: Controller) =>
  Array.from({ length: maxRetries }, (_, failures) => backoffSeconds(controller, failures));

it('endpoints wait 5 ms·2ⁿ, never less than the second that SQS knows', () => {
  expect(waits('endpoints')).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6, 11, 21, 41, 82]);
});

it('slices wait 1 s·2ⁿ up to 1000 s', () => {
  expect(waits('slices')).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]);
});

it('no wait overflows, however many failures there were', () => {
  for (const controller of controllers) expect(backoffSeconds(controller, 5000)).toBe(1000);
});
