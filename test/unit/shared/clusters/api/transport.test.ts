import http from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ClusterApiError, noCredentials, timedOut } from '#shared/clusters/api/errors.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { listen } from '#test/support/network/listen.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const o of open.splice(0)) o.close();
});

async function serve(handle: http.RequestListener): Promise<string> {
  const server = await listen(http.createServer(handle));
  open.push(server);
  return `http://127.0.0.1:${server.port}`;
}

function transport(...args: Parameters<typeof httpTransport>) {
  const made = httpTransport(...args);
  open.push(made);
  return made;
}

describe('transport', () => {
  it('a request has query, body and token, and returns the answer with any status', async () => {
    const server = await serve(async (req, res) => {
      let body = '';
      for await (const part of req) body += part;
      res
        .writeHead(418, { 'retry-after': '3' })
        .end(`${req.method} ${req.url} ${req.headers.authorization} ${req.headers['content-type']} ${body}`);
    });
    const answer = await transport({ server: `${server}/prefix/`, token: 't0' }).request('PUT', '/api/v1/x', {
      query: { fieldManager: 'a b', limit: 500, continue: undefined },
      body: '{}',
    });
    expect(answer.status).toBe(418);
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.body.toString()).toBe(
      'PUT /prefix/api/v1/x?fieldManager=a+b&limit=500 Bearer t0 application/json {}',
    );
  });

  it('the way to a server that takes long to find out counts in the time of its call, and is no fault of the server', async () => {
    let requests = 0;
    const server = await serve((_req, res) => {
      requests++;
      res.end();
    });
    const { request } = transport(async () => {
      for (const until = performance.now() + 60; performance.now() < until; ) await tick();
      return { server };
    });
    await expect(request('GET', '/', { timeoutMs: 100 })).rejects.toMatchObject({ reason: noCredentials });
    expect(requests).toBe(0);
    expect((await request('GET', '/')).status).toBe(200);
  });

  it('an urgent request is answered while every connection waits for an answer, and its own connection is not kept', async () => {
    const waiting: http.ServerResponse[] = [];
    const sockets = new Set<Socket>();
    const server = await serve((req, res) => {
      sockets.add(req.socket);
      req.socket.on('close', () => sockets.delete(req.socket));
      if (req.url === '/slow') waiting.push(res);
      else res.end(req.url);
    });
    const { request } = transport({ server }, { maxSockets: 2 });
    const slow = [1, 2, 3].map(() => request('GET', '/slow'));
    while (waiting.length < 2) await tick();
    expect((await request('GET', '/urgent', { urgent: true })).body.toString()).toBe('/urgent');
    while (sockets.size > 2) await tick();
    expect(waiting).toHaveLength(2);
    waiting.pop()?.end();
    while (waiting.length < 2) await tick();
    for (const response of waiting) response.end();
    await Promise.all(slow);
    // With a connection that is free, it takes that one.
    await request('GET', '/urgent', { urgent: true });
    expect(sockets.size).toBe(2);
  });

  it('a new token goes with the next request and breaks none that is under way, nor its connection', async () => {
    const waiting: http.ServerResponse[] = [];
    const sockets = new Set<unknown>();
    const server = await serve((req, res) => {
      sockets.add(req.socket);
      if (req.url === '/slow') waiting.push(res);
      else res.end(req.headers.authorization);
    });
    let token = 'first';
    const { request } = transport(async () => ({ server, token }));
    const slow = request('POST', '/slow', { body: '{}' });
    while (waiting.length === 0) await tick();
    token = 'second';
    expect((await request('GET', '/quick')).body.toString()).toBe('Bearer second');
    waiting[0]?.end('done');
    expect((await slow).body.toString()).toBe('done');
    token = 'third';
    expect((await request('GET', '/quick')).body.toString()).toBe('Bearer third');
    expect(sockets.size).toBe(2);
  });

  it('asks for a fresh token once after a 401, and only once', async () => {
    const seen: unknown[] = [];
    const server = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.writeHead(req.headers.authorization === 'Bearer new' ? 200 : 401).end();
    });
    const good = transport({ server }, { token: async (refresh) => (refresh ? 'new' : 'old') });
    expect((await good.request('GET', '/')).status).toBe(200);
    const bad = transport({ server }, { token: async () => 'wrong' });
    expect((await bad.request('GET', '/')).status).toBe(401);
    expect(seen).toEqual(['Bearer old', 'Bearer new', 'Bearer wrong', 'Bearer wrong']);
  });

  it('the limit covers the whole request, with the repetition after a refused token', async () => {
    let asked = 0;
    const server = await serve((_, res) => {
      if (++asked === 1) setTimeout(() => res.writeHead(401).end(), 300);
    });
    const { request } = transport({ server }, { token: async () => 'old' });
    // Long enough for the first answer to come on a busy machine.
    const error = await request('GET', '/', { timeoutMs: 3_000 }).catch((e: ClusterApiError) => e);
    expect(error).toMatchObject({ status: 0, reason: timedOut });
    expect(asked).toBe(2);
    // The limit is the remaining time after the first answer.
    expect(Number(/after (\d+) ms/.exec((error as ClusterApiError).message)?.[1])).toBeLessThan(2_750);
  });

  it('repeats an idempotent request whose kept connection was dead, and no other', async () => {
    let answers = 0;
    const server = await serve((req, res) => {
      // The first request on a connection is answered, the second finds it reset.
      const socket = req.socket as typeof req.socket & { used?: boolean };
      if (socket.used) return void socket.resetAndDestroy();
      socket.used = true;
      answers++;
      res.end('ok');
    });
    const client = transport({ server });
    for (let i = 0; i < 2; i++)
      expect((await client.request('GET', '/', { idempotent: true })).status).toBe(200);
    await expect(client.request('POST', '/')).rejects.toMatchObject({ name: 'ClusterApiError', status: 0 });
    expect(answers).toBe(2);
  });

  it('turns a refused connection, a timeout, an aborted call and failing credentials into errors of status 0', async () => {
    const server = await serve(() => {});
    const status0 = { name: 'ClusterApiError', status: 0 };
    await expect(transport({ server: 'http://127.0.0.1:1' }).request('GET', '/x')).rejects.toMatchObject(
      status0,
    );
    // The time-out of a call begins before its connection, and on a busy machine that takes a part of it.
    await expect(transport({ server }).request('GET', '/x', { timeoutMs: 1_000 })).rejects.toMatchObject({
      ...status0,
      message: expect.stringMatching(/^GET http:.*\/x: timed out after \d+ ms$/),
    });
    const signal = AbortSignal.timeout(30);
    await expect(transport({ server }).request('GET', '/x', { signal })).rejects.toMatchObject(status0);
    await expect(transport({ server }).request('GET', '/x', { signal })).rejects.toMatchObject(status0);
    const token = () => Promise.reject(new Error('denied'));
    await expect(transport({ server }, { token }).request('GET', '/x')).rejects.toMatchObject(status0);
    await expect(
      transport(() => Promise.reject(new Error('unknown cluster'))).request('GET', '/x'),
    ).rejects.toMatchObject(status0);
  });

  it('streams by pulling: a reader that stops asking holds the server back', async () => {
    let sent = 0;
    const server = await serve((_req, res) => {
      const more = (): void => {
        while (!res.destroyed && sent < 200e6) {
          sent += 1e6;
          if (!res.write(Buffer.alloc(1e6))) return void res.once('drain', more);
        }
        res.end();
      };
      more();
    });
    const stream = await transport({ server }).stream('GET', '/');
    const reader = stream.chunks[Symbol.asyncIterator]();
    await reader.next();
    let before = -1;
    while (before !== sent) {
      before = sent;
      for (let i = 0; i < 200; i++) await tick();
    }
    expect(sent).toBeLessThan(50e6);
    stream.destroy();
    await expect(
      (async () => {
        while (!(await reader.next()).done);
      })(),
    ).rejects.toMatchObject({ name: 'ClusterApiError', status: 0 });
  });

  it('a stream ends with its answer, fails when the connection breaks, and stops when it is aborted', async () => {
    const server = await serve((req, res) => {
      if (req.url === '/ok') return void res.end('all');
      res.write('some');
      if (req.url === '/broken') setTimeout(() => res.destroy(), 20);
    });
    const client = transport({ server }, { timeoutMs: 2_000 });
    const read = async (path: string, signal?: AbortSignal) => {
      let text = '';
      for await (const chunk of (await client.stream('GET', path, { ...(signal && { signal }) })).chunks)
        text += chunk;
      return text;
    };
    expect(await read('/ok')).toBe('all');
    await expect(read('/broken')).rejects.toMatchObject({ name: 'ClusterApiError', status: 0 });
    // Longer than the timeout, which is for the headers only.
    await expect(read('/open', AbortSignal.timeout(2_200))).rejects.toMatchObject({
      name: 'ClusterApiError',
      message: expect.stringContaining('aborted'),
    });
  });

  it('aborting in the instant in which kept connections finish breaks nothing', async () => {
    const server = await serve((_req, res) => res.end('x'.repeat(100)));
    const client = transport({ server });
    for (let i = 0; i < 200; i++) {
      const abort = new AbortController();
      const call = client.request('GET', '/', { signal: abort.signal }).catch(() => {});
      for (let t = 0; t < i % 12; t++) await tick();
      abort.abort();
      await call;
    }
    expect((await client.request('GET', '/')).status).toBe(200);
  });

  it('takes new sockets when the connection changes, and keeps the old ones while it does not', async () => {
    const sockets = new Set<unknown>();
    const server = await serve((req, res) => {
      sockets.add(req.socket);
      res.end();
    });
    let serverName = 'a';
    const client = transport(async () => ({ server, serverName }));
    await client.request('GET', '/');
    await client.request('GET', '/');
    expect(sockets.size).toBe(1);
    serverName = 'b';
    await client.request('GET', '/');
    expect(sockets.size).toBe(2);
  });

  it.each(['the connection changes', 'the transport closes'])(
    'if %s, idle sockets end at once, and one with a request ends with it',
    async (how) => {
      const sockets: Socket[] = [];
      const waiting: http.ServerResponse[] = [];
      const server = await serve((req, res) => {
        if (!sockets.includes(req.socket)) sockets.push(req.socket);
        if (req.url === '/slow') waiting.push(res);
        else res.end();
      });
      let serverName = 'a';
      const client = transport(async () => ({ server, serverName }), { idleMs: 60_000 });
      const slow = client.request('POST', '/slow', { body: '{}' });
      while (waiting.length === 0) await tick();
      await client.request('GET', '/');
      if (how === 'the transport closes') client.close();
      serverName = 'b';
      await client.request('GET', '/');
      await vi.waitFor(() => expect(sockets.map((s) => s.closed)).toEqual([false, true, false]), 120_000);
      waiting[0]?.end('done');
      expect((await slow).body.toString()).toBe('done');
      await vi.waitFor(() => expect(sockets.map((s) => s.closed)).toEqual([true, true, false]), 120_000);
    },
  );
});
