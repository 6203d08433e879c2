/** Prepares the outer network namespace: the bridge between all nodes and control planes. */
import { networkInterfaces } from 'node:os';
import { addBackbone } from './network.ts';

export default async function setup(): Promise<void> {
  const others = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (process.env['PACKETS'] === undefined || others.length > 0)
    throw new Error(
      `this is not a network namespace of the test (it has ${others.join(', ') || 'lo only'}): use npm run test:packets`,
    );
  await addBackbone();
}
