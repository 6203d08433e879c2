/** SQS's maximum delay of a message. A longer wait is split. */
export const maxDelaySeconds = 900;
/** SQS's maximum size of a message's body. */
export const maxMessageBytes = 1024 * 1024;
/** The same of a queue that does not set MaximumMessageSize. A body with one object has at most this size. */
export const usualMessageBytes = 256 * 1024;
