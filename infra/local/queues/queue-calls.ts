/**
 * Calls of the local queues without the SDK's client, which takes ten times the processor time. The local
 * queues check no signature.
 */
import http from 'node:http';

/**
 * `input` and the answer are as in the SQS API. Rejects if the queues' process refuses the call or does not
 * answer.
 */
export type QueueCall = <Answer>(operation: string, input: object, signal?: AbortSignal) => Promise<Answer>;

/**
 * Stands in for Lambda's pollers, which work outside of the functions. `queueUrl`: any queue of the process.
 */
export function queueCalls(queueUrl: string): QueueCall {
  const { hostname, port } = new URL(queueUrl);
  const agent = new http.Agent({ keepAlive: true });
  return (operation, input, signal) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(input);
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'content-length': Buffer.byteLength(body),
        'x-amz-target': `AmazonSQS.${operation}`,
      };
      const request = http.request(
        { hostname, port, method: 'POST', path: '/', headers, agent, ...(signal && { signal }) },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(parts).toString();
            if (response.statusCode === 200) resolve(text === '' ? {} : JSON.parse(text));
            else reject(new Error(`${operation}: HTTP ${response.statusCode}: ${text.slice(0, 200)}`));
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
}
