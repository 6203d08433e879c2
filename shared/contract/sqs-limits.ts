/** SQS's maximum delay of a message. A longer wait is split. */
export const maxDelaySeconds = 900;
