import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const tools = { ip: 'iproute2', nft: 'nftables', unshare: 'util-linux' };

/** Returns what this machine lacks for the test, each with its remedy. */
export async function requirementsMissing(): Promise<readonly string[]> {
  if (process.platform !== 'linux')
    return [`Linux is needed for network namespaces; this is ${process.platform}`];
  if (process.getuid?.() !== 0) return ['root is needed for network namespaces'];
  const found = await Promise.all(
    Object.entries(tools).map(async ([tool, debian]) => ((await exists(tool)) ? [] : [lacks(tool, debian)])),
  );
  const missing = found.flat();
  if (missing.length > 0) return missing;
  // `ip netns` keeps its names there.
  await mkdir('/run/netns', { recursive: true });
  const made = await run('unshare', [
    '--net',
    '--mount',
    '--pid',
    '--fork',
    '--mount-proc',
    'nft',
    'add',
    'table',
    'inet',
    'try',
  ]).then(
    () => undefined,
    (e: Error) => e.message.trim(),
  );
  return made === undefined
    ? []
    : [`the kernel does not allow network namespaces with nftables here: ${made}`];
}

const lacks = (tool: string, debian: string): string =>
  `${tool} is missing (Debian: apt-get install -y ${debian})`;

const exists = (tool: string): Promise<boolean> =>
  run('sh', ['-c', `command -v ${tool}`]).then(
    () => true,
    () => false,
  );
