/** The edges of `npm run bench -- memory`. `functionMiB`: as in infra/stages. */
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { selectorsOf } from '#functions/ingest/wake-ups/selectors.ts';
import type { KeyRange } from '#shared/store/table.ts';
import { aPod, aService, smallCluster } from '../support/small-cluster.ts';

interface MemoryCase {
  readonly functionMiB: number;
  readonly run: () => Promise<void>;
}

const [ingestMiB, syncMiB] = [1024, 1769];

/** Services with some 235 KB of labels each, of which the table makes a page when it is asked for. */
async function selectorsOfLargeServices(): Promise<void> {
  const count = 1_500;
  const projection = (i: number): string => {
    const labels = Object.fromEntries(Array.from({ length: 1_780 }, (_, k) => [`${i}-${k}-`.padEnd(63, 'k'), `${i}-${k}-`.padEnd(63, 'v')]));
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
  const batch = { deps: { caches: freshCaches(), table }, cluster: { id: 'c', mode: 'active' }, store: { table, cluster: 'c' } };
  let services = 0;
  for await (const page of selectorsOf(batch as never, 'ns', 1)) services += page.length;
  if (services !== count) throw new Error(`${services} of ${count} services`);
}

/** The first run, and a pod's change. */
async function wholeHub(pods: number, ports: number): Promise<void> {
  const given = Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: i + 1, targetPort: i + 1, protocol: 'TCP' }));
  const all = Array.from({ length: pods }, (_, i) => withAddress(i));
  const { world, pass } = await smallCluster([aService({ ports: given }), ...all]);
  await pass(60);
  world.store.apply(withAddress(0, false));
  await pass(60);
}

function withAddress(i: number, ready = true) {
  const pod = aPod(i, { ready });
  const ips = [`10.1.${Math.floor(i / 250)}.${1 + (i % 250)}`, `fd00::${(i + 1).toString(16)}`];
  return { ...pod, status: { ...(pod['status'] as object), podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) } } as typeof pod;
}

export const cases: { readonly [name: string]: MemoryCase } = {
  'ingest: a pod changes in a namespace with 1,500 Services of 235 KB': { functionMiB: ingestMiB, run: selectorsOfLargeServices },
  'ingest, sync and an API server: a service of 5,000 pods': { functionMiB: syncMiB, run: () => wholeHub(5_000, 1) },
  'ingest, sync and an API server: 2,050 ports, 100 pods': { functionMiB: syncMiB, run: () => wholeHub(100, 2_050) },
};
