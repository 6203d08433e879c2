import { startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { programArguments } from '#test/support/program-arguments.ts';

/**
 * npm run control-plane [-- --controllers LIST] [--data DIR]: a real control plane to try things on, until
 * Ctrl-C.
 */
const { values } = programArguments({
  options: { controllers: { type: 'string' }, data: { type: 'string' } },
});

const controlPlane = await startControlPlane({
  controllers: values.controllers ?? 'namespace-controller,garbage-collector-controller',
  ...(values.data !== undefined && { dataDir: values.data }),
});
console.log(`kubeconfig  ${controlPlane.kubeconfig}`);
console.log(`kubectl     ${controlPlane.binary} kubectl --kubeconfig ${controlPlane.kubeconfig}`);
console.log('Ctrl-C ends it.');

// Signals alone do not keep a process alive.
const alive = setInterval(() => {}, 2 ** 30);
await new Promise<void>((resolve) => {
  process.once('SIGINT', () => resolve());
  process.once('SIGTERM', () => resolve());
});
clearInterval(alive);
await controlPlane.stop();
