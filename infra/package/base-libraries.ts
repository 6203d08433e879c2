/**
 * The C and C++ libraries that Node needs, from Debian's packages: what gcr.io/distroless/cc consists of,
 * without a registry of images.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sha256Of } from './archive.ts';
import type { Material } from './provenance.ts';

const run = promisify(execFile);
const packages = ['libc6', 'libgcc-s1', 'libstdc++6'];

/**
 * Fills `root` with the libraries of `architecture`. apt verifies the packages by the keys of this machine,
 * and leaves the machine's own state as it is.
 */
export async function baseLibraries(
  architecture: string,
  root: string,
  scratch: string,
): Promise<readonly Material[]> {
  const env = { ...process.env, APT_CONFIG: await aptConfig(architecture, scratch) };
  const apt = (...args: readonly string[]) =>
    run('apt-get', ['-qq', '-o', 'Acquire::Retries=3', ...args], { env, cwd: scratch }).catch((e: Error) => {
      throw new Error(
        `the image needs Debian's packages ${packages.join(', ')} for ${architecture}, by apt-get of a Debian machine: ${e.message}`,
      );
    });
  await apt('update');
  await apt('download', ...packages);
  const files = (await readdir(scratch)).filter((file) => file.endsWith('.deb')).sort();
  // Scanners find the packages of an image without dpkg in this folder.
  const status = join(root, 'var/lib/dpkg/status.d');
  await mkdir(status, { recursive: true });
  const materials: Material[] = [];
  for (const file of files) {
    await run('dpkg-deb', ['-x', file, root], { cwd: scratch });
    const { stdout: control } = await run('dpkg-deb', ['-f', file], { cwd: scratch });
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? '';
    await writeFile(join(status, field('Package')), control);
    const [name, version] = [field('Package'), field('Version')];
    const uri = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    materials.push({ name, version, uri, digest: { sha256: await sha256Of(join(scratch, file)) } });
  }
  // Since Debian 13 the packages have these folders below usr alone, and another package has the links.
  for (const name of ['lib', 'lib64'])
    if (!existsSync(join(root, name)) && existsSync(join(root, 'usr', name)))
      await symlink(`usr/${name}`, join(root, name));
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  return materials;
}

async function aptConfig(architecture: string, scratch: string): Promise<string> {
  await mkdir(join(scratch, 'state/lists/partial'), { recursive: true });
  await mkdir(join(scratch, 'cache/archives/partial'), { recursive: true });
  await writeFile(join(scratch, 'status'), '');
  const file = join(scratch, 'apt.conf');
  const lines = [
    `Dir::State "${scratch}/state"`,
    `Dir::State::status "${scratch}/status"`,
    `Dir::Cache "${scratch}/cache"`,
    `APT::Architecture "${architecture}"`,
    `APT::Architectures { "${architecture}"; }`,
    // The scratch folder is private, and apt's own user cannot enter it.
    'APT::Sandbox::User "root"',
  ];
  await writeFile(file, lines.map((line) => `${line};\n`).join(''));
  return file;
}
