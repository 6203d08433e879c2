import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { e2eSuite } from '#test/e2e/suite.ts';
import { startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { applyAccess, grantRelaysRights, writerConnection } from '#test/support/relay-install.ts';

// As the writer, and no more: what its RBAC and admission policies refuse is nothing that the controllers do.
e2eSuite({
  name: 'our controllers on a real control plane without its own',
  async connect() {
    const controlPlane = await startControlPlane({
      controllers: 'namespace-controller,garbage-collector-controller',
    });
    await applyAccess(controlPlane);
    await grantRelaysRights(controlPlane);
    const kubeconfig = join(dirname(controlPlane.kubeconfig), 'writer.yaml');
    await writeFile(kubeconfig, kubeconfigText(await writerConnection(controlPlane)), { mode: 0o600 });
    const run = startLocalRun(['--kubeconfig', kubeconfig, '--mode', 'active', '--controllers-off']);
    const close = async (): Promise<void> => {
      await run.stop();
      await controlPlane.stop();
    };
    try {
      await run.line(/^ready/);
      return { connection: controlPlane.connection, lines: run.lines, close };
    } catch (e) {
      await close();
      throw e;
    }
  },
});
