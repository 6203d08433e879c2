/** Tables for people, as `kubectl get` asks for them (meta.k8s.io/v1 Table). */
import { type Fields, listIn, type RawObject, type StoreKind } from './api-kinds.ts';

type Cell = string | number;
type Column = readonly [title: string, cell: (object: RawObject, nowMs: number) => Cell];

export const asksForTable = (accept: string | undefined): boolean => accept?.includes('as=Table') ?? false;

/** `metadata` is the list's, or that of the only object. */
export function tableOf(
  kind: StoreKind,
  objects: readonly RawObject[],
  { metadata = {}, nowMs }: { readonly metadata?: object; readonly nowMs: number },
): object {
  const columns: readonly Column[] = [name, ...(columnsOf[kind] ?? []), age];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(([title], i) => ({
      name: title,
      type: 'string',
      format: i === 0 ? 'name' : '',
      description: '',
      priority: 0,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(([, cell]) => cell(object, nowMs)),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: object.metadata,
      },
    })),
  };
}

const name: Column = ['Name', ({ metadata }) => metadata.name ?? ''];
const age: Column = [
  'Age',
  ({ metadata }, nowMs) => ageText((nowMs - Date.parse(metadata.creationTimestamp ?? '')) / 1000),
];

function ageText(seconds: number): string {
  if (!Number.isFinite(seconds)) return '<unknown>';
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const;
  const [unit, length] = units.find(([, s]) => seconds >= 2 * s) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}

const joined = (texts: readonly unknown[]): string => texts.join() || '<none>';
const conditionOf = ({ status }: RawObject, type: string): Fields | undefined =>
  listIn(status?.['conditions']).find((c) => c['type'] === type);

const columnsOf: { readonly [K in StoreKind]?: readonly Column[] } = {
  Pod: [
    ['Ready', readyOf],
    ['Status', podStatus],
    ['Restarts', () => '0'],
  ],
  Service: [
    ['Type', ({ spec }) => String(spec?.['type'] ?? '')],
    ['Cluster-IP', ({ spec }) => String(spec?.['clusterIP'] ?? '<none>')],
    ['External-IP', ({ spec }) => String(spec?.['externalName'] ?? '<none>')],
    ['Port(s)', ({ spec }) => joined(listIn(spec?.['ports']).map((p) => `${p['port']}/${p['protocol']}`))],
  ],
  Node: [
    ['Status', (node) => (conditionOf(node, 'Ready')?.['status'] === 'True' ? 'Ready' : 'NotReady')],
    ['Zone', ({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'] ?? '<none>'],
  ],
  Namespace: [['Status', ({ status }) => String(status?.['phase'] ?? '')]],
  Endpoints: [['Endpoints', (endpoints) => joined(listIn(endpoints['subsets']).flatMap(addressesOf))]],
  EndpointSlice: [
    ['AddressType', (slice) => String(slice['addressType'])],
    ['Ports', (slice) => joined(listIn(slice['ports']).map((p) => p['port']))],
    ['Endpoints', (slice) => joined(listIn(slice['endpoints']).flatMap((e) => e['addresses']))],
  ],
  Deployment: [
    ['Ready', ({ spec, status }) => `${status?.['readyReplicas'] ?? 0}/${spec?.['replicas'] ?? 1}`],
    ['Up-to-date', ({ status }) => Number(status?.['updatedReplicas'] ?? 0)],
    ['Available', ({ status }) => Number(status?.['readyReplicas'] ?? 0)],
  ],
  StatefulSet: [
    ['Ready', ({ spec, status }) => `${status?.['readyReplicas'] ?? 0}/${spec?.['replicas'] ?? 1}`],
  ],
  Event: [
    ['Type', (event) => String(event['type'] ?? '')],
    ['Reason', (event) => String(event['reason'] ?? '')],
    ['Message', (event) => String(event['message'] ?? '')],
  ],
};

function readyOf({ spec, status }: RawObject): string {
  const ready = listIn(status?.['containerStatuses']).filter((c) => c['ready'] === true).length;
  return `${ready}/${listIn(spec?.['containers']).length}`;
}

function podStatus({ metadata, status }: RawObject): string {
  if (metadata.deletionTimestamp) return 'Terminating';
  const [waiting] = listIn(status?.['containerStatuses']).flatMap(
    (c) => ((c['state'] as Fields | undefined)?.['waiting'] as Fields | undefined)?.['reason'] ?? [],
  );
  return String(waiting ?? status?.['phase'] ?? '');
}

const addressesOf = ({ addresses, ports }: Fields): readonly string[] =>
  listIn(addresses).flatMap(({ ip }) => {
    const named = listIn(ports).map(({ port }) => `${ip}:${port}`);
    return named.length > 0 ? named : [String(ip)];
  });
