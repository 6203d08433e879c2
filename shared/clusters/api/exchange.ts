/** One request over one socket, until its answer has been read. */
import http from 'node:http';
import https from 'node:https';
import { guard } from './agent.ts';

export interface Finish {
  (): void;
  headersIn(): void;
  /** Returns the reason for which this side aborted the request, or undefined. */
  reason(): Error | undefined;
}

export interface Exchange {
  readonly response: http.IncomingMessage;
  readonly url: URL;
  readonly finish: Finish;
  destroy(): void;
}

export class SendFailure extends Error {
  readonly deadSocket: boolean;
  constructor(cause: unknown, deadSocket: boolean) {
    super('request not sent', { cause });
    this.deadSocket = deadSocket;
  }
}

export function sendFailure(error: unknown): SendFailure {
  if (error instanceof SendFailure) return error;
  throw error;
}

export interface RequestHead {
  readonly method: string;
  readonly url: URL;
  readonly headers: http.OutgoingHttpHeaders;
}

export function send(
  agent: http.Agent,
  { method, url, headers }: RequestHead,
  { signal, body }: { readonly signal?: AbortSignal; readonly body?: string },
  timeoutMs: number,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new SendFailure(abortedError(), false));
    const request = (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent });
    let reason: Error | undefined;
    const breakOff = (why: Error): void => {
      reason ??= why;
      request.destroy(why);
      // A request that waits for a proxy emits no error before the proxy has answered.
      reject(new SendFailure(reason, false));
    };
    const onAbort = (): void => breakOff(abortedError());
    const timer = setTimeout(
      () =>
        breakOff(
          Object.assign(new Error(`timed out after ${Math.round(timeoutMs)} ms`), { code: 'ETIMEDOUT' }),
        ),
      timeoutMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const finish = Object.assign(
      (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      },
      { headersIn: () => clearTimeout(timer), reason: () => reason },
    );
    request.once('socket', guard);
    request.on('error', (e: NodeJS.ErrnoException) => {
      finish();
      reject(
        new SendFailure(
          reason ?? e,
          reason === undefined && request.reusedSocket && (e.code === 'ECONNRESET' || e.code === 'EPIPE'),
        ),
      );
    });
    request.once('response', (response) => {
      // A response that is destroyed before it is read must not be an uncaught error.
      response.on('error', () => {});
      const destroy = (): void => {
        finish();
        breakOff(abortedError());
        response.destroy();
      };
      resolve({ response, url, finish, destroy });
    });
    request.end(body);
  });
}

const abortedError = (): Error => new Error('aborted');

export async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response) {
    parts.push(part);
    length += part.length;
    if (length > maxBytes)
      throw Object.assign(new Error(`the answer has more than ${maxBytes} bytes`), { code: 'EMSGSIZE' });
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
