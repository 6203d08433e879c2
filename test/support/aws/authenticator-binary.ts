import { createHash } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, go } from '#test/support/control-plane/kubernetes-module.ts';
import { exists, onlyOnce } from '#test/support/only-once.ts';

const module = fileURLToPath(new URL('../../cluster/eks-authenticator/', import.meta.url));

/**
 * Path of aws-iam-authenticator, unchanged, of the version in test/cluster/eks-authenticator/go.mod. Built
 * once: a minute of one core.
 */
export async function authenticatorBinary(say: (line: string) => void = console.error): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(module, 'go.sum')));
  const folder = join(cacheFolder, `aws-iam-authenticator-${hash.digest('hex').slice(0, 16)}`);
  const binary = join(folder, 'aws-iam-authenticator');
  return onlyOnce(folder, async () => {
    if (await exists(binary)) return binary;
    say(`building aws-iam-authenticator (a minute the first time): ${binary}`);
    await mkdir(folder, { recursive: true });
    // Renamed when it is whole, so that a build that was broken off is not taken for one.
    const unfinished = `${binary}.unfinished`;
    await go(
      [
        'build',
        '-ldflags',
        '-s -w',
        '-o',
        unfinished,
        'sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator',
      ],
      module,
    );
    await rename(unfinished, binary);
    return binary;
  });
}
