import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { e2eSuite } from './suite.ts';

e2eSuite({
  name: 'our controllers on the embedded API server',
  async connect() {
    const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));
    const server = await startEmbeddedCluster();
    const connection = { server: server.url };
    const kubeconfig = join(folder, 'kubeconfig.yaml');
    await writeFile(kubeconfig, kubeconfigText(connection));
    const run = startLocalRun(['--kubeconfig', kubeconfig, '--mode', 'active', '--controllers-off']);
    const close = async (): Promise<void> => {
      await run.stop();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      await run.line(/^ready/);
      return { connection, lines: run.lines, close };
    } catch (e) {
      await close();
      throw e;
    }
  },
});
