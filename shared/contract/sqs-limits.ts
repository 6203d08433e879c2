/** SQS delays a message by no more than this: a longer wait is split. */
export const maxDelaySeconds = 900;
