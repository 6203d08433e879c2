import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectApi } from '#test/e2e/api.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane.ts';

let controlPlane: ControlPlane;
beforeAll(async () => {
  controlPlane = await startControlPlane();
});
afterAll(() => controlPlane?.stop());

const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(controlPlane.binary, ['kubectl', `--kubeconfig=${controlPlane.kubeconfig}`, ...args])).stdout;

test('an API server that is stopped and started again has the same address, certificate and objects', async () => {
  await kubectl('create', 'namespace', 'kept');
  await controlPlane.apiServer.stop();
  await expect(kubectl('get', 'namespaces')).rejects.toThrow(/refused/);
  await controlPlane.apiServer.start();
  expect(await kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/kept');
});

test('kube-controller-manager can be started later, with the controllers that are wanted', async () => {
  const api = connectApi(controlPlane.connection);
  await api.create('Service', 'default', { metadata: { name: 'web' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
  expect(controlPlane.controllerManager.pid).toBeUndefined();
  await controlPlane.controllerManager.start(['--controllers=endpoints-controller']);
  await expect.poll(() => api.get('Endpoints', 'default', 'web'), { timeout: 10_000 }).toBeDefined();
  expect((await api.list('EndpointSlice', 'default')).items).toEqual([]);
  await controlPlane.controllerManager.stop();
  expect(controlPlane.controllerManager.pid).toBeUndefined();
  api.close();
});

test('nothing of it is left when it has been stopped', async () => {
  const other = await startControlPlane();
  const pid = other.apiServer.pid as number;
  await other.stop();
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  await expect(access(dirname(other.kubeconfig))).rejects.toThrow(/ENOENT/);
});
