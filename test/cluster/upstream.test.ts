import { e2eSuite } from '#test/e2e/suite.ts';
import { startControlPlane } from '#test/support/control-plane/control-plane.ts';

// The suite passes with upstream's controllers, which proves its expectations.
e2eSuite({
  name: 'kube-controller-manager on a real control plane',
  async connect() {
    const controllers =
      'endpoints-controller,endpointslice-controller,namespace-controller,garbage-collector-controller';
    const { connection, stop } = await startControlPlane({ controllers });
    return { connection, close: stop };
  },
});
