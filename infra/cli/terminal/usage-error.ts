/** A mistake of the person who typed the command. Its message is for them: one line, no stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
