import { maxMessageBytes } from '#shared/contract/sqs-limits.ts';
import { encodeMessage } from './codec.ts';

/** A message that a function could not read or did not accept. */
export interface QuarantineCopy {
  readonly reason: string;
  /** The queue that it came from. */
  readonly from: 'events' | 'syncs';
  readonly cluster: string;
  readonly body: string;
}

/**
 * Returns the body of the copy, which redrive can send again. Only a message of nearly SQS's limit, which no
 * relay sends, is cut so that its copy fits.
 */
export function encodeQuarantineCopy(copy: QuarantineCopy): string {
  for (let { body } = copy; ; body = body.slice(0, body.length / 2)) {
    const encoded = encodeMessage({ ...copy, body });
    if (Buffer.byteLength(encoded) <= maxMessageBytes) return encoded;
  }
}
