import type { OutgoingMessage } from '#shared/queue/port.ts';
import { encodeWakeUp } from '#shared/queue/wake-up-message.ts';
import type { Delayed } from './rules/message.ts';

/** Converts a wake-up to a message of the queue. */
export const outgoing = ({ message, delaySeconds }: Delayed): OutgoingMessage => ({
  body: encodeWakeUp(message),
  delaySeconds,
});
