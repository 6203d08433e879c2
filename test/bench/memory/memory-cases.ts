/** The edges of `npm run bench -- memory`. `functionMiB`: as in infra/stages. */
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { selectorsOf } from '#functions/ingest/wake-ups/selectors.ts';
import { maxExportBytes } from '#shared/clusterset/exports/exported-service.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { KeyRange } from '#shared/store/table.ts';
import { podsOfOneSource } from '#test/bench/large-pods.ts';
import { exporter, importer, service, serviceExport } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { aPod, aService, smallCluster } from '../../support/small-cluster.ts';

interface MemoryCase {
  readonly functionMiB: number;
  readonly run: () => Promise<void>;
}

const [ingestMiB, syncMiB] = [1024, 1769];

/** Services with some 235 KB of labels each, of which the table makes a page when it is asked for. */
async function selectorsOfLargeServices(): Promise<void> {
  const count = 1_500;
  const projection = (i: number): string => {
    const labels = Object.fromEntries(
      Array.from({ length: 1_780 }, (_, k) => [`${i}-${k}-`.padEnd(63, 'k'), `${i}-${k}-`.padEnd(63, 'v')]),
    );
    return JSON.stringify([`u${i}`, 0, labels, {}, 0, { selector: { app: 'a' }, ports: [] }]);
  };
  const table = {
    get: async () => ({ n: 1 }),
    async query(pk: string, { from = '', atMost = count }: KeyRange = {}) {
      const first = from === '' ? 0 : Number(from) + 1;
      return Array.from({ length: Math.max(0, Math.min(atMost, count - first)) }, (_, i) => ({
        ...{ pk, sk: String(first + i).padStart(6, '0'), v: '00000101', o: projection(first + i) },
      }));
    },
  };
  const batch = {
    deps: { caches: freshCaches(), table },
    cluster: { id: 'c', mode: 'active' },
    store: { table, cluster: 'c' },
  };
  let services = 0;
  for await (const page of selectorsOf(batch as never, 'ns', 1)) services += page.length;
  if (services !== count) throw new Error(`${services} of ${count} services`);
}

/** The first run, and a pod's change. */
async function wholeHub(pods: number, ports: number): Promise<void> {
  const given = Array.from({ length: ports }, (_, i) => ({
    name: `p${i}`,
    port: i + 1,
    targetPort: i + 1,
    protocol: 'TCP',
  }));
  const all = Array.from({ length: pods }, (_, i) => withAddress(i));
  const { world, pass } = await smallCluster([aService({ ports: given }), ...all]);
  await pass(60);
  world.store.apply(withAddress(0, false));
  await pass(60);
}

function withAddress(i: number, ready = true) {
  const pod = aPod(i, { ready });
  const ips = [`10.1.${Math.floor(i / 250)}.${1 + (i % 250)}`, `fd00::${(i + 1).toString(16)}`];
  return {
    ...pod,
    status: { ...(pod['status'] as object), podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) },
  } as typeof pod;
}

/** A Pod of 64 KB: only its named ports are exported. */
const manyPorts = (i: number): Pod =>
  podWith(
    i,
    Array.from({ length: 1_300 }, (_, p) => `${p}-`.padEnd(40, 'p')),
  );
const onePort = (i: number): Pod => podWith(i, []);

const podWith = (i: number, ports: readonly string[]): Pod => ({
  metadata: { name: `web-${i}` },
  spec: {
    containers: [
      { name: '', ports: ports.map((name, p) => ({ name, containerPort: p + 1, protocol: 'TCP' })) },
    ],
  },
  status: {
    phase: 'Running',
    podIP: ipOf(i),
    podIPs: [{ ip: ipOf(i) }],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
const ipOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

/** An export's text has a bound, and a namespace's exports have one. */
async function exportsOfLargestText(): Promise<void> {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
  await world.pass(60);
  const names = Array.from({ length: 1_000 }, (_, i) => `n-${i}`);
  const text = 'a'.repeat(maxExportBytes / 2 - 1_000);
  const ports = Array.from({ length: 64 }, (_, i) => ({
    name: `${i}-`.padEnd(63, 'p'),
    port: i + 1,
    targetPort: 8080,
    protocol: 'TCP',
    appProtocol: 'a'.repeat(63),
  }));
  for (let i = 0; i < names.length; i += 20) {
    const page = names.slice(i, i + 20);
    await world.of('b').say(
      'Service',
      page.map((name) => service({ ports }, { name, uid: name })),
    );
    const spec = { exportedAnnotations: { a: text } };
    await world.of('b').say(
      'ServiceExport',
      page.map((name) => ({ ...serviceExport({ name, uid: `e-${name}` }), spec })),
    );
  }
  await world.pass(900);
  const imports = world.of('a').store.list('ServiceImport', 'shop').length;
  const entries = (await world.table.query('SET#default#shop')).filter(({ sk }) => sk.includes('#E#'));
  const largest = Math.max(...entries.map(({ f }) => String(f).length));
  if (imports < 1_000 || largest < maxExportBytes / 2)
    throw new Error(`${imports} imports, of ${largest} bytes at most`);
}

export const cases: { readonly [name: string]: MemoryCase } = {
  'ingest: a pod changes in a namespace with 1,500 Services of 235 KB': {
    functionMiB: ingestMiB,
    run: selectorsOfLargeServices,
  },
  'sync: ten imports of an exporter’s pods of 64 KB, just below the bound': {
    functionMiB: syncMiB,
    run: () => podsOfOneSource(50, manyPorts),
  },
  'sync: the same with 50,000 pods of 100 bytes, just below the bound': {
    functionMiB: syncMiB,
    run: () => podsOfOneSource(50_000, onePort),
  },
  'ingest, sync, the table and three API servers: 1,000 exports of the largest text': {
    functionMiB: syncMiB,
    run: exportsOfLargestText,
  },
  'ingest, sync and an API server: a service of 5,000 pods': {
    functionMiB: syncMiB,
    run: () => wholeHub(5_000, 1),
  },
  'ingest, sync and an API server: 2,050 ports, 100 pods': {
    functionMiB: syncMiB,
    run: () => wholeHub(100, 2_050),
  },
};
