import { e2eSuite } from '#test/e2e/suite.ts';
import { startControlPlane } from '#test/support/control-plane.ts';
import { startLocalRun } from '#test/support/local-run.ts';

e2eSuite({
  name: 'our controllers on a real control plane without its own',
  async connect() {
    const controlPlane = await startControlPlane({ controllers: 'namespace-controller,garbage-collector-controller' });
    const run = startLocalRun(['--kubeconfig', controlPlane.kubeconfig, '--mode', 'active']);
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
