/** A run is a list of steps: each takes what the steps before it have found, and adds to it or ends the run. */

export type StepResult<Next, Result> = { readonly next: Next } | { readonly end: Result };

export type RunStep<Run, Next, Result> = (run: Run) => Promise<StepResult<Next, Result>>;

export interface Steps<Run, Next, Result> {
  readonly next: <After>(step: RunStep<Next, After, Result>) => Steps<Run, After, Result>;
  /** The whole list as one function. Only a run that no step has ended comes to its last step. */
  readonly last: (step: (run: Next) => Promise<Result>) => (run: Run) => Promise<Result>;
}

export const inOrder = <Run, Next, Result>(first: RunStep<Run, Next, Result>): Steps<Run, Next, Result> => ({
  next: (step) =>
    inOrder(async (run) => {
      const result = await first(run);
      return 'end' in result ? result : step(result.next);
    }),
  last: (step) => async (run) => {
    const result = await first(run);
    return 'end' in result ? result.end : step(result.next);
  },
});
