/**
 * Specs of the Multi-Cluster Services API's own conformance suite that need kubelets, kube-proxy and DNS, with the suite's titles: its `hello` Service is
 * exported by the first cluster, and both clusters ask. test/multi-cluster/scenarios/conformance.ts has those that need only API servers.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { derivedName } from '#shared/clusterset/derived-name.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { lost, makeClients, startClients } from './clients.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';
import { dnsAddress } from './network.ts';
import { namespaceOf } from './workload.ts';

const ids = ['a', 'b'] as const;
const ports = [
  { name: 'tcp', port: 42, protocol: 'TCP' },
  { name: 'udp', port: 42, protocol: 'UDP' },
];

describe('the conformance suite with kubelets, kube-proxy and DNS', () => {
  let set: Clusterset;
  let hasFailed = false;
  let namespaces = 0;
  let namespace = '';
  beforeAll(async () => {
    set = await startClusterset(ids);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (hasFailed) console.log(set?.said.join('\n'));
    await set?.stop();
  });

  const member = (id: string) => set.fleet.members[id] as (typeof set.fleet.members)[string];
  const eventually = <T>(assertion: () => Promise<T>): Promise<T> => member('a').observed.eventually(assertion, 30_000);

  /** A namespace of its own with a request pod in each cluster, and `hello` in the first. */
  async function deployed({ headless = false, hostnames = false, exported = true } = {}): Promise<void> {
    namespace = `mcs-${++namespaces}`;
    for (const id of ids) {
      await set.of(id).apply([namespaceOf(namespace)]);
      await makeClients(set.of(id).nodes, member(id).controlPlane, namespace, 1);
    }
    const pods = (headless ? [0, 1] : [0]).map((i) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `hello-${i}`, namespace, labels: { app: 'hello' } },
      spec: {
        // As a StatefulSet names them.
        ...(hostnames && { hostname: `hello-${i}`, subdomain: 'hello' }),
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: 'server', ports: ports.map(({ port, protocol }) => ({ containerPort: port, protocol })) }],
      },
    }));
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hello', namespace },
      spec: { selector: { app: 'hello' }, ports, ...(headless && { clusterIP: 'None' }) },
    };
    const serviceExport = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata: { name: 'hello', namespace } };
    await set.of('a').apply([...pods, service, ...(exported ? [serviceExport] : [])]);
    for (const { metadata } of pods) await set.of('a').nodes.event(`${namespace}/${metadata.name}`, 'ready');
  }

  async function lookUp(id: string, name: string, type: 'A' | 'SRV' = 'A'): Promise<{ readonly code: string; readonly records: readonly string[] }> {
    const lines: string[] = [];
    const command = ['look-up', '--dns', dnsAddress, '--type', type, name];
    await set.of(id).nodes.exec(`${namespace}/client-0`, command, (line) => lines.push(line)).ended;
    if (!lines[0]) throw new Error(`${id}: no answer of DNS for ${name}`);
    const { code, records } = JSON.parse(lines[0]);
    return { code, records: records.toSorted() };
  }
  const name = (domain = 'clusterset.local'): string => `hello.${namespace}.svc.${domain}`;
  const addressesOfPods = (): readonly string[] =>
    set.of('a').nodes.events.flatMap((e) => (e.event === 'ready' && e.pod.startsWith(`${namespace}/hello-`) ? [e.addresses[0] as string] : []));
  const ask = (id: string) => startClients(set.of(id).nodes, [`${namespace}/client-0`], { to: `http://${name()}:42`, dns: dnsAddress, rate: 10 });

  it('with no exported service: should be inaccessible', async () => {
    await deployed({ exported: false });
    for (const id of ids) {
      const asking = ask(id);
      await asking.more(20);
      const answers = await asking.stop();
      expect(lost(answers)).toHaveLength(answers.length);
    }
  });

  it('with an exported ClusterIP service: should be accessible through DNS', async () => {
    await deployed();
    for (const id of ids) {
      const asking = ask(id);
      expect((await asking.answered((a) => a.error === undefined, 0)).cluster).toBe('a');
      await asking.stop();
    }
  });

  it('a DNS lookup of <service>.<ns>.svc.clusterset.local for a ClusterIP service resolves to the clusterset IP', async () => {
    await deployed();
    for (const id of ids) {
      const address = await set.importAddress(id, namespace, 'hello');
      await eventually(async () => expect(await lookUp(id, name()), id).toEqual({ code: 'NOERROR', records: [address] }));
    }
  });

  it('a DNS SRV query of <service>.<ns>.svc.clusterset.local for a ClusterIP service returns valid SRV records', async () => {
    await deployed();
    for (const id of ids) await eventually(async () => expect((await lookUp(id, name(), 'SRV')).records, id).toEqual([`42 ${name()}.`]));
  });

  it('DNS lookups of <service>.<ns>.svc.cluster.local for a ClusterIP service only resolve local services', async () => {
    await deployed();
    const address = (await member('a').api.get('Service', namespace, 'hello'))?.spec?.clusterIP;
    await eventually(async () => expect((await lookUp('a', name('cluster.local'))).records).toEqual([address]));
    await set.importAddress('b', namespace, 'hello');
    expect(await lookUp('b', name('cluster.local'))).toEqual({ code: 'NXDOMAIN', records: [] });
  });

  it('a DNS query of <service>.<ns>.svc.clusterset.local for a headless service returns the ready addresses of all its pods', async () => {
    await deployed({ headless: true });
    for (const id of ids) await eventually(async () => expect((await lookUp(id, name())).records, id).toEqual(addressesOfPods().toSorted()));
  });

  it('a DNS query of <hostname>.<clusterid>.<service>.<ns>.svc.clusterset.local returns the pod’s address', async () => {
    await deployed({ headless: true, hostnames: true });
    for (const id of ids) {
      const { api } = member(id);
      const endpoints = await eventually(async () => {
        const slices: readonly EndpointSlice[] = (await api.list('EndpointSlice', namespace)).items.filter(
          (s) => s.metadata.labels?.['kubernetes.io/service-name'] === derivedName(namespace, 'hello') && s.addressType === 'IPv4',
        );
        const found = slices.flatMap((s) => s.endpoints ?? []);
        expect(found.map((e) => e.hostname).sort(), id).toEqual(['hello-0', 'hello-1']);
        return found;
      });
      for (const { hostname, addresses } of endpoints)
        await eventually(async () => expect((await lookUp(id, `${hostname}.a.${name()}`)).records, id).toEqual(addresses));
    }
  });

  it('a DNS SRV query of <service>.<ns>.svc.clusterset.local for a headless service returns valid SRV records', async () => {
    await deployed({ headless: true });
    for (const id of ids)
      await eventually(async () => {
        const { records } = await lookUp(id, name(), 'SRV');
        expect(records, id).toEqual(
          addressesOfPods()
            .map((a) => `42 ${a.replaceAll('.', '-')}.a.${name()}.`)
            .toSorted(),
        );
      });
  });
});
