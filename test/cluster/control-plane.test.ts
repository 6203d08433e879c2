import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '#functions/relay/runtime/clock.ts';
import { httpWatchSource } from '#functions/relay/source/watch-source-http.ts';
import { isTooLarge } from '#shared/clusters/api/errors.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';

let controlPlane: ControlPlane;
beforeAll(async () => {
  controlPlane = await startControlPlane();
});
afterAll(() => controlPlane?.stop());

const kubectl = async (...args: readonly string[]): Promise<string> =>
  (
    await promisify(execFile)(controlPlane.binary, [
      'kubectl',
      `--kubeconfig=${controlPlane.kubeconfig}`,
      ...args,
    ])
  ).stdout;

it('an API server that is stopped and started again has the same address, certificate and objects', async () => {
  await kubectl('create', 'namespace', 'kept');
  await controlPlane.apiServer.stop();
  await expect(kubectl('get', 'namespaces')).rejects.toThrow(/refused/);
  await controlPlane.apiServer.start();
  expect(await kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/kept');
});

it('kube-controller-manager can be started later, with the controllers that are wanted', async () => {
  const api = connectApi(controlPlane.connection);
  await api.create('Service', 'default', {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  expect(controlPlane.controllerManager.pid).toBeUndefined();
  await controlPlane.controllerManager.start(['--controllers=endpoints-controller']);
  await expect.poll(() => api.get('Endpoints', 'default', 'web'), { timeout: 10_000 }).toBeDefined();
  expect((await api.list('EndpointSlice', 'default')).items).toEqual([]);
  await controlPlane.controllerManager.stop();
  expect(controlPlane.controllerManager.pid).toBeUndefined();
  api.close();
});

it('a paged list is consistent though its pages differ in size and one was broken off', async () => {
  const api = connectApi(controlPlane.connection);
  const transport = httpTransport(controlPlane.connection);
  const source = httpWatchSource(transport, systemClock);
  const { signal } = new AbortController();
  const names = Array.from({ length: 8 }, (_, i) => `paged-${i}`);
  const service = (name: string) =>
    api.create('Service', 'default', {
      metadata: { name, annotations: { blob: 'x'.repeat(50_000) } },
      spec: { ports: [{ port: 80 }] },
    });
  for (const name of names) await service(name);
  const found: string[] = [];
  const versions = new Set<string>();
  let token: string | undefined;
  for (const limit of [3, 1, 4, 1, 500]) {
    const page = { limit, continue: token, maxBytes: 180_000 };
    const listed = await source.list('Service', page, signal).catch(async (e) => {
      expect(isTooLarge(e) && limit).toBe(4);
      await service('paged-3-later');
      return source.list('Service', { ...page, limit: 2 }, signal);
    });
    found.push(...listed.items.map((o) => o.metadata.name));
    versions.add(listed.resourceVersion);
    token = listed.continue;
    if (token === undefined) break;
  }
  expect(found.filter((name) => name.startsWith('paged-'))).toEqual(names);
  expect(versions.size).toBe(1);
  transport.close();
  api.close();
});

it('the control plane leaves no process or file after its stop', async () => {
  const other = await startControlPlane();
  const pid = other.apiServer.pid as number;
  await other.stop();
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  await expect(access(dirname(other.kubeconfig))).rejects.toThrow(/ENOENT/);
});
