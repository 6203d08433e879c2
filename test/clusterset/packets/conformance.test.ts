/**
 * The ten specs of the Multi-Cluster Services API's own conformance suite (v0.5.0) that need kubelets,
 * kube-proxy and DNS, with the suite's titles. The first cluster exports the suite's `hello` Service, and
 * both clusters ask. test/clusterset/multi-cluster/scenarios/conformance.ts has the other 17 specs. Spec 20
 * is in both.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { lost, makeClients, startClients } from '#test/cluster/packets/clients.ts';
import { dnsAddress } from '#test/cluster/packets/network.ts';
import { stopAfterwards } from '#test/cluster/packets/suite.ts';
import { namespaceOf } from '#test/cluster/packets/workload.ts';
import { type Clusterset, startClusterset } from './clusterset.ts';

const ids = ['a', 'b'] as const;
type Port = {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly targetPort?: number;
};
const ports: readonly Port[] = [
  { name: 'tcp', port: 42, protocol: 'TCP' },
  { name: 'udp', port: 42, protocol: 'UDP' },
];

describe('the conformance suite with kubelets, kube-proxy and DNS', () => {
  let set: Clusterset;
  let namespaces = 0;
  let namespace = '';
  beforeAll(async () => {
    set = await startClusterset(ids);
  });
  stopAfterwards(() => set);

  const member = (id: string) => set.fleet.members[id] as (typeof set.fleet.members)[string];
  const eventually = <T>(assertion: () => Promise<T>): Promise<T> =>
    member('a').observed.eventually(assertion, 30_000);

  interface Hello {
    readonly headless?: boolean;
    readonly hostnames?: boolean;
    readonly exported?: boolean;
    readonly ports?: readonly Port[];
  }

  /** A namespace of its own with a request pod in each cluster, and `hello` in the first. */
  async function deployed(hello: Hello = {}): Promise<void> {
    namespace = `mcs-${++namespaces}`;
    for (const id of ids) {
      await set.of(id).apply([namespaceOf(namespace)]);
      await makeClients(set.of(id), namespace, 1);
    }
    await deploy('a', hello);
  }
  async function deploy(id: string, hello: Hello): Promise<void> {
    const { headless = false, hostnames = false, exported = true, ports: servicePorts = ports } = hello;
    const pods = (headless ? [0, 1] : [0]).map((i) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `hello-${i}`, namespace, labels: { app: 'hello' } },
      spec: {
        // As a StatefulSet names them.
        ...(hostnames && { hostname: `hello-${i}`, subdomain: 'hello' }),
        automountServiceAccountToken: false,
        containers: [
          {
            name: 'c',
            image: 'server',
            ports: ports.map(({ port, protocol }) => ({ containerPort: port, protocol })),
          },
        ],
      },
    }));
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hello', namespace },
      spec: { selector: { app: 'hello' }, ports: servicePorts, ...(headless && { clusterIP: 'None' }) },
    };
    const serviceExport = {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name: 'hello', namespace },
    };
    await set.of(id).apply([...pods, service, ...(exported ? [serviceExport] : [])]);
    for (const { metadata } of pods) await set.of(id).nodes.event(`${namespace}/${metadata.name}`, 'ready');
  }

  async function lookUp(
    id: string,
    name: string,
    type: 'A' | 'SRV' = 'A',
  ): Promise<{ readonly code: string; readonly records: readonly string[] }> {
    const lines: string[] = [];
    const command = ['look-up', '--dns', dnsAddress, '--type', type, name];
    await set.of(id).nodes.exec(`${namespace}/client-0`, command, (line) => lines.push(line)).ended;
    if (!lines[0]) throw new Error(`${id}: no answer of DNS for ${name}`);
    const { code, records } = JSON.parse(lines[0]);
    return { code, records: records.toSorted() };
  }
  const name = (domain = 'clusterset.local'): string => `hello.${namespace}.svc.${domain}`;
  const addressesOfPods = (): readonly string[] =>
    set
      .of('a')
      .nodes.events.flatMap((e) =>
        e.event === 'ready' && e.pod.startsWith(`${namespace}/hello-`) ? [e.addresses[0] as string] : [],
      );
  const ask = (id: string, port = 42) =>
    startClients(set.of(id).nodes, [`${namespace}/client-0`], {
      to: `http://${name()}:${port}`,
      dns: dnsAddress,
      rate: 10,
    });
  /** In each cluster, a port of the import is answered by a cluster, and by it alone. */
  async function answeredBy(cluster: string, port: number): Promise<void> {
    for (const id of ids) {
      const asking = ask(id, port);
      await asking.answered((a) => a.cluster === cluster, 0);
      await asking.more(20);
      const clusters = new Set((await asking.stop()).flatMap((a) => a.cluster ?? []));
      expect(clusters, `port ${port}, asked in ${id}`).toEqual(new Set([cluster]));
    }
  }
  /**
   * As the suite does it: `hello` of the second cluster has one port, and its export is younger by a second.
   */
  async function deployedInBoth(port: Port): Promise<void> {
    await deployed();
    const { creationTimestamp } =
      (await member('a').api.get('ServiceExport', namespace, 'hello'))?.metadata ?? {};
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(String(creationTimestamp)) + 1_000);
    await deploy('b', { ports: [port] });
    await eventually(async () => {
      const found = await member('a').api.get('ServiceImport', namespace, 'hello');
      expect(found?.status?.clusters).toEqual([{ cluster: 'a' }, { cluster: 'b' }]);
    });
  }

  it('spec 20, connectivity to a service that is not exported: should be inaccessible', async () => {
    await deployed({ exported: false });
    for (const id of ids) {
      const asking = ask(id);
      await asking.more(20);
      const answers = await asking.stop();
      expect(lost(answers)).toHaveLength(answers.length);
    }
  });

  it('connectivity to an exported ClusterIP service: should be accessible through DNS', async () => {
    await deployed();
    for (const id of ids) {
      const asking = ask(id);
      expect((await asking.answered((a) => a.error === undefined, 0)).cluster).toBe('a');
      await asking.stop();
    }
  });

  it('connectivity to a ClusterIP service existing in two clusters but exported from one: should only access the exporting cluster', async () => {
    await deployed();
    await deploy('b', { exported: false });
    await answeredBy('a', 42);
  });

  it('the same port name but different port numbers on each cluster: should only route traffic to the cluster that exposes the port', async () => {
    await deployedInBoth({ name: 'tcp', port: 4242, protocol: 'TCP', targetPort: 42 });
    await answeredBy('a', 42);
  });

  it('a different port name on each cluster: should route traffic to each port only to the cluster that exposes it', async () => {
    await deployedInBoth({ name: 'tcp2', port: 4242, protocol: 'TCP', targetPort: 42 });
    await answeredBy('a', 42);
    await answeredBy('b', 4242);
  });

  it('a DNS lookup of <service>.<ns>.svc.clusterset.local for a ClusterIP service resolves to the clusterset IP', async () => {
    await deployed();
    for (const id of ids) {
      const address = await set.importAddress(id, namespace, 'hello');
      await eventually(async () =>
        expect(await lookUp(id, name()), id).toEqual({ code: 'NOERROR', records: [address] }),
      );
    }
  });

  it('a DNS SRV query of <service>.<ns>.svc.clusterset.local for a ClusterIP service returns valid SRV records', async () => {
    await deployed();
    for (const id of ids)
      await eventually(async () =>
        expect((await lookUp(id, name(), 'SRV')).records, id).toEqual([`42 ${name()}.`]),
      );
  });

  it('DNS lookups of <service>.<ns>.svc.cluster.local for a ClusterIP service only resolve local services', async () => {
    await deployed();
    const address = (await member('a').api.get('Service', namespace, 'hello'))?.spec?.clusterIP;
    await eventually(async () =>
      expect((await lookUp('a', name('cluster.local'))).records).toEqual([address]),
    );
    await set.importAddress('b', namespace, 'hello');
    expect(await lookUp('b', name('cluster.local'))).toEqual({ code: 'NXDOMAIN', records: [] });
  });

  it('a DNS query of <service>.<ns>.svc.clusterset.local for a headless service returns the ready addresses of all its pods', async () => {
    await deployed({ headless: true });
    for (const id of ids)
      await eventually(async () =>
        expect((await lookUp(id, name())).records, id).toEqual(addressesOfPods().toSorted()),
      );
  });

  it('a DNS query of <hostname>.<clusterid>.<service>.<ns>.svc.clusterset.local returns the pod’s address', async () => {
    await deployed({ headless: true, hostnames: true });
    for (const id of ids) {
      const { api } = member(id);
      const endpoints = await eventually(async () => {
        const slices: readonly EndpointSlice[] = (await api.list('EndpointSlice', namespace)).items.filter(
          (s) =>
            s.metadata.labels?.['kubernetes.io/service-name'] === derivedName(namespace, 'hello') &&
            s.addressType === 'IPv4',
        );
        const found = slices.flatMap((s) => s.endpoints ?? []);
        expect(found.map((e) => e.hostname).sort(), id).toEqual(['hello-0', 'hello-1']);
        return found;
      });
      for (const { hostname, addresses } of endpoints)
        await eventually(async () =>
          expect((await lookUp(id, `${hostname}.a.${name()}`)).records, id).toEqual(addresses),
        );
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
