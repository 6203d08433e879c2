import { expect, it } from 'vitest';
import { allToEnd } from '#shared/concurrently.ts';

it('the results of calls come in their order', async () => {
  expect(await allToEnd([Promise.resolve(1), 'two', Promise.resolve()])).toEqual([1, 'two', undefined]);
  expect(await allToEnd([])).toEqual([]);
});

it('a call that fails is reported after the others have ended', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  let hasFailed = false;
  const all = allToEnd([slow, Promise.reject(new Error('first')), Promise.reject(new Error('second'))]).catch(
    (error: Error) => {
      hasFailed = true;
      return error.message;
    },
  );
  await new Promise(setImmediate);
  expect(hasFailed).toBe(false);
  resolve();
  expect(await all).toBe('first');
});
