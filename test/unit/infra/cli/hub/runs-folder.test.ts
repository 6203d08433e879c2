/** The folder in which local runs leave their addresses lies where every user of the machine may make one. */
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  connectHub,
  localAddresses,
  localHubFile,
  publishLocalAddresses,
} from '#infra/cli/hub/connect-hub.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';

const addresses = {
  tableUrl: 'http://127.0.0.1:1',
  queuesUrl: 'http://127.0.0.1:2',
  tableName: 't',
  region: 'r',
  connectionsFile: 'c',
  consoleUrl: '',
};
const connect = (): unknown => connectHub({ HUB: String(process.pid) });
let temporary: string;
let folder: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  vi.stubEnv('TMPDIR', temporary);
  folder = dirname(localHubFile(1));
  expect(folder).toBe(join(temporary, `fleet-endpoints-runs-${userInfo().uid}`));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(temporary, { recursive: true });
});

it('addresses that a run writes there are found', async () => {
  await publishLocalAddresses(addresses);
  expect(connect()).toMatchObject({ name: 'the local run', isElsewhere: false, connectionsFile: 'c' });
});

it.runIf(process.platform === 'linux')(
  'a command uses the run of its folder, and lists several runs of other folders',
  async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    try {
      await publishLocalAddresses(addresses);
      const elsewhere = { ...addresses, folder: '/elsewhere', consoleUrl: 'http://127.0.0.1:8080' };
      await writeFile(localHubFile(other.pid as number), JSON.stringify(elsewhere));
      expect(localAddresses(undefined)).toMatchObject({ folder: process.cwd() });
      expect(localAddresses('elsewhere')).toMatchObject({ folder: '/elsewhere' });
      expect(connectHub({ HUB: 'elsewhere' })).toMatchObject({
        name: 'the local run of /elsewhere',
        isElsewhere: true,
      });
      await writeFile(localHubFile(process.pid), JSON.stringify(elsewhere));
      expect(() => localAddresses('elsewhere')).toThrow(
        /several local runs: choose one with --hub \d+ \(console http:\S+, folder \/elsewhere\) or --hub/,
      );
      await writeFile(localHubFile(process.pid), JSON.stringify({ ...elsewhere, folder: '/demo' }));
      expect(() => localAddresses(undefined)).toThrow(
        /several local runs: choose one with .*--hub demo \(console http:\S+, folder \/demo\)/,
      );
    } finally {
      other.kill();
    }
  },
);

it.runIf(process.platform === 'linux')(
  'leftovers of a killed run are ignored when another process has its number',
  async () => {
    await publishLocalAddresses(addresses);
    await writeFile(localHubFile(process.pid), JSON.stringify({ ...addresses, began: '1' }));
    expect(connect).toThrow(/no local run has the folder or process id/);
  },
);

it('a folder that others may write to is believed by no command and used by no run', async () => {
  await mkdir(folder, { mode: 0o700 });
  await writeFile(localHubFile(process.pid), JSON.stringify(addresses));
  await chmod(folder, 0o770);
  expect(connect).toThrow(UsageError);
  expect(connect).toThrow(/is open to others \(0770, 0700 is needed\).*not trusted/);
  await expect(publishLocalAddresses(addresses)).rejects.toThrow(UsageError);
});

it('a folder that leads to somewhere else is not believed', async () => {
  const elsewhere = join(temporary, 'elsewhere');
  await mkdir(elsewhere, { mode: 0o700 });
  await writeFile(join(elsewhere, `${process.pid}.json`), JSON.stringify(addresses));
  await symlink(elsewhere, folder);
  expect(connect).toThrow(/is not a folder/);
});

it.runIf(userInfo().uid === 0)('a folder that belongs to another user is not believed', async () => {
  const { chown } = await import('node:fs/promises');
  await mkdir(folder, { mode: 0o700 });
  await writeFile(localHubFile(process.pid), JSON.stringify(addresses));
  await chown(folder, 12_345, 12_345);
  expect(connect).toThrow(/belongs to user 12345/);
});
