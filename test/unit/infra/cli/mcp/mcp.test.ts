/** `fleet-endpoints mcp`, asked by the SDK's own client, which checks each answer against its schema. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { hubTools } from '#infra/cli/mcp/hub-tools.ts';
import { serveTools } from '#infra/cli/mcp/mcp-server.ts';
import { startApiServer } from '#infra/local/apiserver/http.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function connected(transport: Transport) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  open.push(() => client.close());
  // From here on the client validates answers.
  const { tools } = await client.listTools();
  const ask = async (name: string, args: object = {}) =>
    (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
  return { client, tools, ask };
}

/** A ready pod behind a wrong port, and a Service that is well. */
const broken = [
  aService({ ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }] }),
  aService({}, 'well'),
  aPod(0),
];

describe('a cluster without a hub, by a child process on standard input and output', () => {
  async function byKubeconfig() {
    const { world } = await smallCluster(broken);
    const server = await startApiServer({ store: world.store });
    open.push(() => server.close());
    const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'config');
    const kubeconfig = {
      'current-context': 'prod',
      clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u' } }],
    };
    writeFileSync(file, stringify(kubeconfig));
    return connected(
      new StdioClientTransport({
        command: process.execPath,
        args: ['infra/cli/command/fleet-endpoints.main.ts', 'mcp', '--kubeconfig', file],
        stderr: 'inherit',
      }),
    );
  }

  it('says why a Service cannot be reached, and lists the Services; all of it reads only', async () => {
    const { client, tools, ask } = await byKubeconfig();
    expect(client.getServerVersion()).toMatchObject({ name: 'fleet-endpoints' });
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['list_services', true],
      ['explain', true],
      ['timeline', true],
    ]);
    const { structuredContent, content } = await ask('explain', { namespace: 'default', service: 'svc' });
    expect(structuredContent).toMatchObject({
      ...{ kind: 'Explanation', cluster: 'prod', reach: 'Unreachable', state: null },
      causes: expect.arrayContaining([expect.objectContaining({ code: 'NoMatchingPort' })]),
    });
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual(structuredContent);
    const { structuredContent: way } = await ask('timeline', {
      namespace: 'default',
      service: 'svc',
      pod: 'pod-0',
    });
    expect(way).toMatchObject({ kind: 'Timeline', message: 'it waits: no slice of the Service lists it' });
    const { structuredContent: list } = await ask('list_services', { namespace: 'default' });
    expect(list).toMatchObject({ services: [{ service: 'svc', reach: 'Unreachable', writers: null }, {}] });
  });

  it('a mistake is an answer that the model can read, and the next question is answered', async () => {
    const { ask } = await byKubeconfig();
    const texts: string[] = [];
    for (const [tool, args] of [
      ['explain', { service: 'svc' }],
      ['explain', { namespace: 'default', service: 'svc', cluster: 'c' }],
      ['explain', { namespace: 'default', service: 'svc', pod: 'pod-9' }],
      ['list_services', { namespace: 'nope' }],
    ] as const) {
      const { isError, content } = await ask(tool, args);
      expect(isError).toBe(true);
      texts.push((content[0] as { text: string }).text);
    }
    expect(texts).toEqual([
      "arguments must have required property 'namespace'",
      'arguments must NOT have additional properties cluster',
      'no pod pod-9 in namespace default',
      'namespace nope has no Service',
    ]);
    await expect(ask('delete_service')).rejects.toThrow(
      'no tool delete_service: there are list_services, explain, timeline',
    );
    expect((await ask('explain', { namespace: 'default', service: 'well' })).isError).toBeUndefined();
  });
});

describe('a hub', () => {
  async function ofHub() {
    const small = await smallCluster([...broken, ...pods(3)]);
    await small.pass(20);
    const { world } = small;
    const [near, far] = InMemoryTransport.createLinkedPair();
    await serveTools(hubTools({ table: world.table, now: () => world.now }), far);
    return { ...small, ...(await connected(near)) };
  }
  const well = { cluster: 'c', namespace: 'default', service: 'well' };

  it('lists clusters and Services, explains, and tells the history, each by its generated schema', async () => {
    const { world, pass, ask } = await ofHub();
    const before = new Date(world.now).toISOString();
    await pass(60);
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(20);
    const answers = await Promise.all([
      ask('list_clusters'),
      ask('list_services', { cluster: 'c', notReadyOnly: true }),
      ask('explain', { ...well, pod: 'pod-0' }),
      ask('timeline', { ...well, pod: 'pod-0' }),
      ask('explain_at', { ...well, at: before }),
      ask('history', { ...well, since: '1h', pod: 'pod-1' }),
    ]);
    expect(answers.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { clusters: [{ id: 'c', unreachable: 1 }] },
      { services: [{ service: 'svc', reach: 'Unreachable' }] },
      { kind: 'Explanation', mode: 'active', pods: [{ name: 'pod-0', ready: true }] },
      {
        kind: 'Timeline',
        pod: 'pod-0',
        steps: expect.arrayContaining([expect.objectContaining({ step: 'Ready' })]),
      },
      {
        kind: 'Addresses',
        isKnown: true,
        addresses: expect.arrayContaining([expect.objectContaining({ pod: 'pod-1' })]),
      },
      {
        kind: 'History',
        runs: [{ result: 'Wrote' }, { result: 'Wrote', changes: [{ pod: 'pod-1', to: null }, {}] }],
      },
    ]);
  });

  it('an unknown name is answered with those that there are', async () => {
    const { ask } = await ofHub();
    const textOf = async (name: string, args: object) =>
      ((await ask(name, args)).content[0] as { text: string }).text;
    expect(await textOf('list_services', { cluster: 'd' })).toBe('no cluster d: there is c');
    expect(await textOf('explain', { ...well, service: 'wel' })).toMatch(
      /^no service wel in namespace default of c/,
    );
    expect(await textOf('history', { ...well, since: '2w' })).toMatch(
      /^since 2w: a number with s, m, h or d/,
    );
    expect(await textOf('explain_at', { ...well, at: 'noon' })).toMatch(/^at noon: a time as /);
  });
});
