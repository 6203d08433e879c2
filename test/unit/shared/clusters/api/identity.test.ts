/** The call by which a run probes a cluster. */
import http from 'node:http';
import { setImmediate as tick } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { httpsClusterApi } from '#shared/clusters/api/https.ts';
import { listen } from '#test/support/network/listen.ts';

it('the identity of a cluster is asked for at once while other calls wait for their answers on every connection', async () => {
  const waiting: http.ServerResponse[] = [];
  const server = await listen(
    http.createServer((request, response) => {
      if (request.url?.endsWith('/kube-system')) response.end(JSON.stringify({ metadata: { uid: 'u' } }));
      else waiting.push(response);
    }),
  );
  const api = httpsClusterApi(
    { server: `http://127.0.0.1:${server.port}` },
    { fieldManager: 'me', maxSockets: 1 },
  );
  const slow = [api.get('Service', 'n', 'a'), api.get('Service', 'n', 'b')];
  expect(await api.identity()).toBe('u');
  for (let answered = 0; answered < slow.length; await tick()) {
    const response = waiting.shift();
    if (response) answered++;
    response?.end(JSON.stringify({ metadata: { name: 'x' } }));
  }
  await Promise.all(slow);
  api.close();
  server.close();
});
