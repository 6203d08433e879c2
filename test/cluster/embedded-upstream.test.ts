/** Plays the end-to-end scenarios with upstream's controllers on the embedded API server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import { e2eSuite } from '#test/e2e/suite.ts';
import { freePorts } from '#test/support/control-plane/control-plane.ts';
import { controlPlaneBinary } from '#test/support/control-plane/control-plane-binary.ts';
import { controlPlaneComponent } from '#test/support/control-plane/control-plane-component.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';

// The real controllers are content with the embedded API server, and do on it what they do on the real one.
e2eSuite({
  name: 'kube-controller-manager on the embedded API server',
  async connect() {
    const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));
    const server = await startEmbeddedCluster();
    const [port] = await freePorts(1);
    const connection = { server: server.url };
    const kubeconfig = join(folder, 'kubeconfig.yaml');
    await writeFile(kubeconfig, kubeconfigText(connection));
    const manager = controlPlaneComponent({
      name: 'kube-controller-manager',
      binary: await controlPlaneBinary(),
      args: [
        `--kubeconfig=${kubeconfig}`,
        // The embedded server does not support protobuf.
        '--kube-api-content-type=application/json',
        '--controllers=endpoints-controller,endpointslice-controller',
        '--leader-elect=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        `--cert-dir=${folder}`,
      ],
      logFile: join(folder, 'kube-controller-manager.log'),
      health: `https://127.0.0.1:${port}/healthz`,
    });
    await manager.start();
    return {
      connection,
      async close() {
        await manager.stop();
        await server.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
});
