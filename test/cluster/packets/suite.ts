/** The end of each suite. */
import { afterAll, afterEach } from 'vitest';

interface World {
  /** Output of the programs. */
  readonly said: readonly string[];
  stop(): Promise<void>;
}

/**
 * Stops the world of a suite after its tests. If a test or the set-up has failed, the output of the programs
 * is printed first.
 */
export function stopAfterwards(world: () => World | undefined): void {
  let states: readonly (string | undefined)[] = [];
  afterEach(({ task }) => {
    states = [...states, task.result?.state];
  });
  afterAll(async () => {
    if (states.length === 0 || states.includes('fail')) console.log(world()?.said.join('\n'));
    await world()?.stop();
  });
}
