/** A supervisor that can be killed. It starts one child, and prints its pid and port. */
import { startChild } from '#infra/local/processes/supervisor.ts';

const child = startChild(
  {
    name: 'fake',
    entry: 'test/unit/infra/local/fake-child.ts',
    env: { PATH: process.env['PATH'] ?? '', NODE_NO_WARNINGS: '1' },
  },
  { onLine() {}, onNotice() {}, onFatal() {} },
);
const { ports: [port] = [] } = await child.ready;
console.log(`${child.pid} ${port}`);
setInterval(() => {}, 1_000);
