/** Commands of the operators' pages, in a shell and on a real API server. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { relayManifest } from '#infra/relay/manifest.ts';
import { toYaml } from '#infra/relay/manifest-yaml.ts';
import { credentialsOf } from '#shared/clusters/api/cluster-credentials.ts';
import { credentialEndMs } from '#shared/clusters/api/credential-end.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { type ControlPlane, startControlPlane } from '#test/support/control-plane/control-plane.ts';
import { installMcs } from '#test/support/control-plane/mcs-crds.ts';
import { commandsOf } from '#test/support/page-commands.ts';
import { relayNamespace } from '#test/support/relay-install.ts';

const execute = promisify(execFile);
let controlPlane: ControlPlane;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'writer-token-'));
  controlPlane = await startControlPlane({
    controllers: 'serviceaccount-token-controller,namespace-controller',
  });
  const { binary, kubeconfig } = controlPlane;
  await program('kubectl', `exec ${binary} kubectl --kubeconfig=${kubeconfig} "$@"`);
  // The last argument is the secret's text.
  await program(
    'aws',
    `printf '%s\\n' "$1 $2 $3 $4" > ${folder}/called; for last; do :; done; printf '%s' "$last" > ${folder}/secret`,
  );
});
afterAll(async () => {
  await controlPlane?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

const install = {
  cluster: 'factory-2',
  namespace: relayNamespace,
  eventsQueueUrl: 'https://sqs.example.com/events',
  region: 'eu-central-1',
  outputs: 'metadata',
  replicas: 1,
  resyncSeconds: '1800',
} as const;

function commandWith(page: string, beginning: string): string {
  const found = commandsOf(page).find(({ command }) => command.startsWith(beginning));
  if (!found) throw new Error(`${page} has no command ${beginning}`);
  return found.command;
}

const shell = (command: string) =>
  execute('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: folder,
    env: { HOME: folder, PATH: `${folder}${delimiter}${process.env['PATH']}` },
  });

async function userOf(
  token: string | undefined,
): Promise<{ readonly status: number; readonly username?: string }> {
  const transport = httpTransport({ ...controlPlane.connection, ...(token && { token }) });
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const answer = await transport.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    body,
  });
  transport.close();
  return { status: answer.status, username: JSON.parse(answer.body.toString()).status?.userInfo?.username };
}

it('the relay’s manifest is applied by getting-started’s command, and restarted by the runbook’s', async () => {
  await writeFile(
    join(folder, 'relay.yaml'),
    toYaml(relayManifest({ ...install, program: { image: 'any' } })),
  );
  await shell(commandWith('docs/operate/getting-started.md', 'kubectl apply --server-side'));
  const { stdout } = await shell(
    commandWith('docs/operate/runbook.md', 'kubectl -n fleet-endpoints rollout restart'),
  );
  expect(stdout).toBe('deployment.apps/relay restarted\n');
});

it('the runbook’s command deletes the imports of a cluster that has left, and no others', async () => {
  await installMcs(controlPlane.connection);
  const imported = (name: string, labels: object): object => ({
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceImport',
    metadata: { name, namespace: 'default', labels },
    spec: { type: 'ClusterSetIP', ports: [{ port: 80, protocol: 'TCP' }] },
  });
  const items = [
    imported('ours', { 'app.kubernetes.io/managed-by': 'fleet-endpoints' }),
    imported('theirs', {}),
  ];
  await writeFile(join(folder, 'imports.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await shell('kubectl apply -f imports.json');
  await shell(commandWith('docs/use/clusterset.md', 'kubectl delete serviceimports'));
  expect((await shell('kubectl get serviceimports -A -o name')).stdout).toBe(
    'serviceimport.multicluster.x-k8s.io/theirs\n',
  );
});

it('getting-started’s command deletes the slices that the hub made for Services that opt in, and no others', async () => {
  const slice = (name: string, manager: string): object => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'endpointslice.kubernetes.io/managed-by': manager } },
    addressType: 'IPv4',
    endpoints: [],
  });
  const items = [
    slice('opted', 'opt-in.fleet-endpoints'),
    slice('built-in', 'endpointslice-controller.k8s.io'),
  ];
  await writeFile(join(folder, 'slices.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await shell('kubectl apply --server-side -f slices.json');
  await shell(commandWith('docs/operate/getting-started.md', 'kubectl delete endpointslices'));
  const { stdout } = await shell(commandWith('docs/operate/runbook.md', 'kubectl get endpointslices'));
  const left: readonly { metadata: { name: string; managedFields?: readonly { manager: string }[] } }[] =
    JSON.parse(stdout).items;
  expect(left.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['built-in']));
  expect(left.map(({ metadata }) => metadata.name)).not.toContain('opted');
  expect(
    left
      .find(({ metadata }) => metadata.name === 'built-in')
      ?.metadata.managedFields?.map(({ manager }) => manager),
  ).toEqual(['kubectl']);
});

it('the runbook’s commands show the Lease of the relays, their pods, their rights and the exports of a cluster', async () => {
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'relay', namespace: relayNamespace },
  };
  await writeFile(
    join(folder, 'lease.json'),
    JSON.stringify({ ...lease, spec: { holderIdentity: 'relay-1' } }),
  );
  await shell('kubectl apply -f lease.json');
  expect(
    (await shell(commandWith('docs/operate/runbook.md', 'kubectl -n fleet-endpoints get lease'))).stdout,
  ).toContain('holderIdentity: relay-1');
  expect(
    (await shell(commandWith('docs/operate/runbook.md', 'kubectl -n fleet-endpoints get pods'))).stderr,
  ).toContain('No resources found');
  expect((await shell(commandWith('docs/operate/runbook.md', 'kubectl auth can-i'))).stdout).toBe('yes\n');
  expect(
    (await shell(commandWith('docs/operate/runbook.md', 'kubectl get serviceexports'))).stdout,
  ).toContain('items: []');
});

it('the commands of the opt-in page annotate a Service and remove its selector', async () => {
  const reader = (command: string): Promise<{ stdout: string }> =>
    shell(command.replaceAll('NAMESPACE', 'default'));
  await shell('kubectl create service clusterip web --tcp=80');
  await reader(commandWith('docs/use/opt-in.md', 'kubectl -n NAMESPACE annotate service web'));
  await reader(commandWith('docs/use/opt-in.md', 'kubectl -n NAMESPACE patch service web'));
  const { metadata, spec } = JSON.parse((await shell('kubectl get service web -o json')).stdout);
  expect(metadata.annotations).toMatchObject({ 'fleet-endpoints/selector': 'app=web' });
  expect(spec).not.toHaveProperty('selector');
});

it('the commands of the clusterset page label the namespace, export a Service, and show its export, its import and its slices', async () => {
  await installMcs(controlPlane.connection);
  await shell('kubectl create namespace web');
  // One control plane stands for the two clusters.
  const page = (beginning: string): Promise<{ stdout: string; stderr: string }> =>
    shell(commandWith('docs/use/clusterset.md', beginning).replace(/ --context \S+/g, ''));
  await page('for c in shop-a shop-b; do\nkubectl');
  expect((await shell('kubectl get namespace web -o json')).stdout).toContain(
    '"fleet-endpoints/clusterset": "prod"',
  );
  expect((await shell('kubectl -n web get serviceexport cart -o name')).stdout).toBe(
    'serviceexport.multicluster.x-k8s.io/cart\n',
  );
  expect((await page('kubectl --context shop-b -n web get serviceexport cart')).stdout).toBe('');
  await expect(page('kubectl --context shop-a -n web get serviceimport cart')).rejects.toMatchObject({
    stderr: expect.stringContaining('"cart" not found'),
  });
  expect((await page('kubectl --context shop-a -n web get endpointslices')).stderr).toContain(
    'No resources found',
  );
});

it('the clusterset page’s commands let CoreDNS list and watch ServiceImports', async () => {
  for (const beginning of [
    'kubectl create clusterrole coredns-multicluster',
    'kubectl create clusterrolebinding coredns-multicluster',
  ])
    await shell(commandWith('docs/use/clusterset.md', beginning));
  const asked =
    'kubectl auth can-i watch serviceimports.multicluster.x-k8s.io --all-namespaces --as=system:serviceaccount:kube-system:coredns';
  expect((await shell(asked)).stdout).toBe('yes\n');
});

it('an API server has the two public documents of its issuer where the page asks for them', async () => {
  const [configuration, keys] = await Promise.all(
    ['/.well-known', '/openid'].map(async (path) =>
      JSON.parse(
        (await shell(commandWith('docs/operate/getting-started.md', `kubectl get --raw ${path}`))).stdout,
      ),
    ),
  );
  expect(configuration).toMatchObject({
    issuer: expect.any(String),
    jwks_uri: expect.stringContaining('/openid/v1/jwks'),
  });
  expect(keys.keys.length).toBeGreaterThan(0);
});

it('the page’s Secret and commands put a token into AWS’s secret by which the API server knows the writer, and that has no end', async () => {
  const page = await readFile('docs/operate/getting-started.md', 'utf8');
  const [, secret = '', commands = ''] =
    /```yaml\n([^`]*service-account-token[^`]*)```\n```bash\n([^`]*)```/.exec(page) ?? [];
  await writeFile(join(folder, 'secret.yaml'), secret);
  await shell(`kubectl apply -f ${folder}/secret.yaml`);
  // The controller fills the Secret a moment later.
  await expect
    .poll(async () => {
      await shell(commands);
      return credentialsOf('factory-2', await readFile(join(folder, 'secret'), 'utf8')).token;
    })
    .not.toBe('');
  const credentials = credentialsOf('factory-2', await readFile(join(folder, 'secret'), 'utf8'));
  expect(await readFile(join(folder, 'called'), 'utf8')).toBe(
    'secretsmanager put-secret-value --secret-id factory-2\n',
  );
  expect(await userOf(credentials.token)).toEqual({
    status: 201,
    username: `system:serviceaccount:${relayNamespace}:writer`,
  });
  expect(credentialEndMs(credentials)).toBeUndefined();
});

it('a token of `kubectl create token` ends, and its end is known', async () => {
  const { stdout } = await shell(`kubectl create token writer -n ${relayNamespace} --duration=48h`);
  const token = stdout.trim();
  expect((await userOf(token)).status).toBe(201);
  const hours = ((credentialEndMs({ token }) ?? 0) - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(47);
  expect(hours).toBeLessThanOrEqual(48);
});

it('the page’s last command deletes all that the relay’s manifest has made', async () => {
  const manifest = relayManifest({ ...install, program: { image: 'any' } });
  await writeFile(join(folder, 'ID.yaml'), toYaml(manifest));
  await shell(commandWith('docs/operate/getting-started.md', 'kubectl delete --ignore-not-found'));
  const { stdout } = await shell('kubectl get --ignore-not-found -f ID.yaml -o name');
  expect(stdout).toBe('');
});
