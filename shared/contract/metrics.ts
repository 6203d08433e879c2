/**
 * Every metric that the system emits: name, unit and help, declared once. Emitters, dashboards and alarms take them from here.
 * Dimensions: `cluster` only, so that one observation serves the fleet (no dimension) and the cluster (that dimension).
 */
export const metricsNamespace = 'FleetEndpoints';

/** Two hubs in one account share neither a metric nor an alarm. A local run is one hub and has no name. */
export const metricsNamespaceOf = (hub: string | undefined): string => (hub ? `${metricsNamespace}/${hub}` : metricsNamespace);

/** The objective: a sync is on time when its writes are accepted within this, ms, of being due. */
export const objectiveMs = 2_000;

export type Unit = 'Count' | 'Milliseconds' | 'Seconds';

export interface Metric {
  readonly unit: Unit;
  readonly help: string;
}

export const metrics = {
  EventsIn: { unit: 'Count', help: 'objects that reached ingest in events messages' },
  EventsStale: { unit: 'Count', help: 'entries that were older than what the snapshot holds' },
  EventsSuspect: { unit: 'Count', help: 'entries refused because a newer list does not know them' },
  ObjectsTooLarge: { unit: 'Count', help: 'entries left out because their object does not fit an item of the table' },
  Quarantined: { unit: 'Count', help: 'messages put aside because they could not be read or believed' },
  MessagesFailed: { unit: 'Count', help: 'messages on which ingest or sync failed, and which come back' },
  WakeUps: { unit: 'Count', help: 'wake-ups sent' },
  IngestLatency: { unit: 'Milliseconds', help: 'relay has seen the change to the snapshot holds it' },
  SyncLatency: {
    unit: 'Milliseconds',
    help: 'sync due (the relay has seen the change, and its batch period is over) to accepted write; retries left out',
  },
  SyncsDue: { unit: 'Count', help: 'syncs counted in SyncLatency: the objective’s total' },
  SyncsOnTime: { unit: 'Count', help: 'of SyncsDue those written within the objective: 2 s of being due' },
  QueueLatency: { unit: 'Milliseconds', help: 'wake-up due to sync starts' },
  SyncDuration: { unit: 'Milliseconds', help: 'one run of sync, from claim to done' },
  ApiLatency: { unit: 'Milliseconds', help: 'one call to a cluster API' },
  SyncsWritten: { unit: 'Count', help: 'runs that wrote to the cluster' },
  SyncsUnchanged: { unit: 'Count', help: 'runs that found nothing to write' },
  SyncsFailed: { unit: 'Count', help: 'runs of a part that failed and will be tried again' },
  SyncsWaiting: { unit: 'Count', help: 'runs put off: circuit open, throttled, first lists not complete' },
  SyncsConflict: { unit: 'Count', help: 'writes refused because the object had changed' },
  Parked: { unit: 'Count', help: 'parts that used up their retries' },
  GuardedRemovals: { unit: 'Count', help: 'runs that asked the API before taking away many endpoints' },
  Bounced: { unit: 'Count', help: 'wake-ups that met a live lease' },
  WritesEndpoints: { unit: 'Count', help: 'writes of Endpoints' },
  WritesSlices: { unit: 'Count', help: 'writes of EndpointSlices, those for Services that opt in and for imports included' },
  WritesImports: { unit: 'Count', help: 'of WritesSlices those of slices of imports' },
  WritesOptIn: { unit: 'Count', help: 'of WritesSlices those of slices for Services that opt in' },
  HandOverDeletes: { unit: 'Count', help: 'slices and Endpoints deleted that another writer of a Service had left' },
  HandOversWaiting: {
    unit: 'Count',
    help: 'runs that left slices of a Service’s former writer because those of the next writer have not served every ready address for 30 s',
  },
  OptInHeld: { unit: 'Count', help: 'runs that left slices as they are because the annotation of a Service cannot be followed' },
  HistoryLost: { unit: 'Count', help: 'runs whose record of the history could not be made or written: nothing else is affected' },
  ForeignWrites: { unit: 'Count', help: 'changes of our objects that we did not make' },
  ShadowDifferences: { unit: 'Count', help: 'services whose endpoints in the cluster differ from ours, confirmed, as things are now' },
  Drift: { unit: 'Count', help: 'objects that a list, or the cluster when asked, told so differently that the snapshot was doubted' },
  SweepResends: { unit: 'Count', help: 'services woken by sweep because their work was overdue' },
  OldestDirtyAge: { unit: 'Seconds', help: 'age of the oldest work that is overdue' },
  RelayHeartbeatAge: { unit: 'Seconds', help: 'time since the last heartbeat of the relay' },
  SilentRelays: { unit: 'Count', help: '1 for a cluster whose relay is silent, 0 for one that is heard; neither for a paused one' },
  OpenCircuits: { unit: 'Count', help: '1 for an active cluster that can’t be written to, 0 for one that can' },
  ClosedGates: { unit: 'Count', help: '1 for a cluster whose first lists are not complete, 0 for one that has them; neither for a paused one' },
  CircuitOpen: { unit: 'Count', help: '1 while the circuit to the cluster is open' },
  GateClosed: { unit: 'Count', help: '1 while the first lists are not complete' },
  CredentialsEnding: { unit: 'Count', help: '1 for a cluster whose secret ends within a week, 0 for one whose secret does not; once an hour' },
  IncarnationBumped: { unit: 'Count', help: 'the cluster was restored or made anew' },
  ServicesContested: { unit: 'Count', help: 'services that are not written for a time because another client keeps writing their objects' },
  WriterConflict: { unit: 'Count', help: '1 while somebody else writes our objects' },
  SourcesSilent: { unit: 'Count', help: '1 for a cluster that exports and is silent or in doubt: its endpoints stay in the others as they are' },
  SourcesEvicted: { unit: 'Count', help: '1 for a cluster that exports and is gone: its endpoints are taken from the others' },
  ImportLatency: {
    unit: 'Milliseconds',
    help: 'relay of a source has seen the change (and its batch period is over) to an importer has accepted the slices, importBatchSeconds included',
  },
  ExportsRefused: { unit: 'Count', help: 'runs of a ServiceExport that is not valid: its Valid condition says why' },
  ImportsBlocked: {
    unit: 'Count',
    help: 'runs of an import that left it, or the slices of a source, as they are: an object of another owner has the name, or the cluster refuses the write',
  },
  ImportsDelayed: {
    unit: 'Count',
    help: 'wake-ups of an export’s importers that wait: the cluster or namespace has changed more names in a minute than its budget allows',
  },
  AddressCollisions: { unit: 'Count', help: 'addresses left out of an import: another source has them on the same port' },
  EvictionsHeld: { unit: 'Count', help: 'evictions that are due and not made: half of the set is silent, or nothing else of the import is ready' },
} as const satisfies { readonly [name: string]: Metric };

export type MetricName = keyof typeof metrics;

/** Which metrics are kept for each cluster besides the fleet: `hub.clusterMetrics` in clusters.yaml. A local run keeps all. */
export const clusterMetricsChoices = ['few', 'all'] as const;
export type ClusterMetrics = (typeof clusterMetricsChoices)[number];

/** CloudWatch bills a metric of a cluster for each hour in which it has a value. These have one in every hour. */
export const steadyPerCluster: readonly MetricName[] = ['SyncLatency', 'OldestDirtyAge', 'RelayHeartbeatAge'];
/** Above 0 only while something is wrong. With `few` a 0 is kept for the fleet alone: to the cluster's alarms a missing value means that all is well. */
const troublePerCluster: readonly MetricName[] = [
  'SyncsFailed',
  'Parked',
  'ShadowDifferences',
  'Drift',
  'CircuitOpen',
  'GateClosed',
  'WriterConflict',
];
/** Kept for each cluster with `all`, besides upstream's gauges. SQS counts the messages of a cluster's queues for nothing. */
const morePerCluster: readonly MetricName[] = ['EventsIn', 'SyncsWritten'];

export const perCluster: { readonly [C in ClusterMetrics]: readonly MetricName[] } = {
  few: [...steadyPerCluster, ...troublePerCluster],
  all: [...steadyPerCluster, ...troublePerCluster, ...morePerCluster],
};

/** Are these observations of a cluster kept for the cluster, and not for the fleet alone? */
export function isKeptOfCluster(kept: ClusterMetrics, name: MetricName, values: readonly number[]): boolean {
  if (!perCluster[kept].includes(name)) return false;
  return kept === 'all' || !troublePerCluster.includes(name) || values.some((value) => value !== 0);
}
