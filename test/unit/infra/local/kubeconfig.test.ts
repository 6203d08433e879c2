import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { contextsOf, kubeconfigCluster } from '#infra/local/clusters/kubeconfig.ts';

describe('kubeconfig', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const plugin = (script: string) => ({
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', script],
    interactiveMode: 'Never',
  });
  const credential = (status: object) =>
    `echo '${JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status })}'`;

  async function write(name: string, change: object = {}): Promise<string> {
    const file = join(dir, name);
    await writeFile(join(dir, 'ca.crt'), 'CA FROM A FILE');
    await writeFile(join(dir, 'token'), 'token-from-a-file');
    const contexts = ['token', 'certificate', 'exec', 'exec-certificate', 'file', 'broken'];
    const config = {
      'current-context': 'token',
      clusters: [
        {
          name: 'one',
          cluster: {
            server: 'https://one:6443',
            'certificate-authority-data': base64('CA'),
            'tls-server-name': 'api.one',
          },
        },
        { name: 'two', cluster: { server: 'https://two:6443', 'insecure-skip-tls-verify': true } },
        { name: 'three', cluster: { server: 'https://three:6443', 'certificate-authority': 'ca.crt' } },
        { name: 'proxied', cluster: { server: 'https://four:6443', 'proxy-url': 'http://proxy' } },
        { name: 'nowhere', cluster: { server: '' } },
        { name: 'plain', cluster: { server: 'http://127.0.0.1:8001' } },
      ],
      users: [
        { name: 'token', user: { token: 'secret' } },
        {
          name: 'certificate',
          user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
        },
        {
          name: 'exec',
          user: { exec: plugin(`echo x >> ${dir}/runs; ${credential({ token: 'from-plugin' })}`) },
        },
        {
          name: 'exec-certificate',
          user: {
            exec: plugin(credential({ clientCertificateData: 'PLUGIN CERT', clientKeyData: 'PLUGIN KEY' })),
          },
        },
        { name: 'file', user: { tokenFile: join(dir, 'token') } },
        { name: 'broken', user: { exec: plugin('echo "log in first" >&2; exit 1') } },
      ],
      contexts: [
        ...contexts.map((user, i) => ({
          name: user,
          context: { user, cluster: ['one', 'two', 'three'][i % 3] },
        })),
        { name: 'proxied', context: { user: 'token', cluster: 'proxied' } },
        { name: 'nowhere', context: { user: 'token', cluster: 'nowhere' } },
        { name: 'plain', context: { user: 'token', cluster: 'plain' } },
        { name: 'nobody', context: { user: 'nobody', cluster: 'one' } },
      ],
      ...change,
    };
    await writeFile(file, stringify(config));
    return file;
  }
  async function text(name: string, content: string): Promise<string> {
    await writeFile(join(dir, name), content);
    return join(dir, name);
  }
  const connect = async (file: string, context?: string) =>
    (await kubeconfigCluster(file, context)).connection();

  it('gives server, CA, server name and token of the current context', async () => {
    expect(await connect(await write('config'))).toEqual({
      server: 'https://one:6443',
      ca: 'CA',
      serverName: 'api.one',
      token: 'secret',
    });
  });

  it('gives client certificates, insecure-skip-tls-verify and files named beside it', async () => {
    const file = await write('config');
    expect(await connect(file, 'certificate')).toEqual({
      server: 'https://two:6443',
      insecureSkipTlsVerify: true,
      clientCertificate: 'CERT',
      clientKey: 'KEY',
    });
    expect(await connect(file, 'exec')).toMatchObject({ server: 'https://three:6443', ca: 'CA FROM A FILE' });
  });

  it('a server without TLS, such as that of kubectl proxy, needs no setting', async () => {
    expect(await connect(await write('config'), 'plain')).toMatchObject({ server: 'http://127.0.0.1:8001' });
  });

  it('runs an exec plug-in once, and again when the token is refused', async () => {
    const file = await write('config');
    await rm(join(dir, 'runs'), { force: true });
    const runs = async () => (await readFile(join(dir, 'runs'), 'utf8')).length / 2;
    const cluster = await kubeconfigCluster(file, 'exec');
    expect(await cluster.token(false)).toBe('from-plugin');
    expect(await runs()).toBe(1);
    expect(await cluster.token(true)).toBe('from-plugin');
    expect(await runs()).toBe(2);
    expect(await connect(file, 'exec-certificate')).toMatchObject({
      clientCertificate: 'PLUGIN CERT',
      clientKey: 'PLUGIN KEY',
    });
  });

  it('sees a token that was renewed in the file', async () => {
    const cluster = await kubeconfigCluster(await write('renewed'));
    await write('renewed', { users: [{ name: 'token', user: { token: 'newer' } }] });
    expect(await cluster.token(true)).toBe('newer');
  });

  it('merges several files as kubectl does: the first one has precedence, and a missing one is passed over', async () => {
    const [first, second] = [join(dir, 'first'), join(dir, 'second')];
    const clusters = (server: string) => [
      { name: 'c', cluster: { server, 'certificate-authority': 'ca.crt' } },
    ];
    const contexts = (name: string) => [{ name, context: { cluster: 'c', user: 'u' } }];
    await write('config');
    await writeFile(first, stringify({ clusters: clusters('https://first'), contexts: contexts('a') }));
    await writeFile(
      second,
      stringify({
        'current-context': 'b',
        clusters: clusters('https://second'),
        users: [{ name: 'u', user: { token: 't' } }],
        contexts: contexts('b'),
      }),
    );
    const files = [join(dir, 'absent'), first, second];
    const { context, connection } = await kubeconfigCluster(files);
    expect(context).toBe('b');
    expect(await connection()).toEqual({ server: 'https://first', ca: 'CA FROM A FILE', token: 't' });
    expect(await contextsOf(files)).toEqual(['a', 'b']);
    await expect(kubeconfigCluster(files, 'c')).rejects.toThrow(
      `kubeconfig ${files.join(':')} has no context c; it has a, b`,
    );
  });

  it.each<[string, (file: string) => Promise<unknown>, string]>([
    [
      'a missing file',
      () => connect(join(dir, 'missing')),
      'cannot read kubeconfig DIR/missing: no such file',
    ],
    ['a directory', () => connect(dir), 'cannot read kubeconfig DIR: it is a directory'],
    [
      'an unknown context',
      (f) => connect(f, 'prod'),
      'kubeconfig DIR/config has no context prod; it has token, certificate, exec',
    ],
    [
      'a context without server',
      (f) => connect(f, 'nowhere'),
      'kubeconfig DIR/config: context nowhere names cluster nowhere, which has no server',
    ],
    [
      'a context without user',
      (f) => connect(f, 'nobody'),
      'kubeconfig DIR/config: context nobody names user nobody, which does not exist',
    ],
    [
      'a proxy',
      (f) => connect(f, 'proxied'),
      'kubeconfig DIR/config: cluster proxied is reached by proxy-url, which is not supported',
    ],
    [
      'a failing plug-in',
      (f) => connect(f, 'broken'),
      'kubeconfig DIR/config: no credentials for context broken: log in first',
    ],
    [
      'no current context',
      async () => connect(await write('none', { 'current-context': undefined })),
      'kubeconfig DIR/none has no current context',
    ],
    ['no YAML', async () => connect(await text('prose', ': a: b:\n- [')), 'DIR/prose is not a kubeconfig'],
    ['an empty file', async () => connect(await text('empty', '')), 'DIR/empty is not a kubeconfig'],
  ])('the error has one line for %s', async (_, call, text) => {
    const error = await call(await write('config')).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ name: 'UsageError' });
    const message = (error as Error).message.replaceAll(dir, 'DIR');
    expect(message.startsWith(text)).toBe(true);
    expect(message).not.toContain('\n');
  });
});
