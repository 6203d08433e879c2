/**
 * All metrics of the system with name, unit and help, for emitters, dashboards and alarms. The only dimension
 * is `cluster`, so an observation counts for the fleet (without dimension) and for the cluster.
 */
export const metricsNamespace = 'FleetEndpoints';

/**
 * Returns the namespace of a hub's metrics, so two hubs in one account share neither metrics nor alarms.
 * `hub` is undefined in a local run.
 */
export const metricsNamespaceOf = (hub: string | undefined): string =>
  hub ? `${metricsNamespace}/${hub}` : metricsNamespace;

/** The objective, ms: a sync is on time if its writes are accepted within this time after it is due. */
export const objectiveMs = 2_000;

export type Unit = 'Count' | 'Milliseconds' | 'Seconds';

export interface Metric {
  readonly unit: Unit;
  readonly help: string;
}

export const metrics = {
  EventsIn: { unit: 'Count', help: 'objects that reached ingest in events messages' },
  Quarantined: {
    unit: 'Count',
    help: 'messages moved to quarantine because they are unreadable or not trusted',
  },
  MessagesFailed: {
    unit: 'Count',
    help: 'messages on which the worker failed; the queue delivers them again',
  },
  WakeUps: { unit: 'Count', help: 'services woken: runs in place, and wake-ups sent' },
  IngestLatency: {
    unit: 'Milliseconds',
    help: 'from the relay’s observation of a change, by the hub’s clock, to its write to the snapshot',
  },
  EndpointReadyDelay: {
    unit: 'Milliseconds',
    help: 'from the relay’s observation of a ready pod to its observation of a slice that says so, for each Service, whoever wrote it; the upper bound of a bucket',
  },
  EndpointRemovalDelay: {
    unit: 'Milliseconds',
    help: 'the same for a pod that is not ready any more, or is being deleted',
  },
  SyncLatency: {
    unit: 'Milliseconds',
    help: 'from the due time of a sync (the relay’s observation plus the batch period) to the accepted write, without retries',
  },
  SyncsDue: { unit: 'Count', help: 'syncs counted in SyncLatency: the objective’s total' },
  SyncsLate: {
    unit: 'Count',
    help: 'syncs of SyncsDue that were written later than the objective: more than 2 s after they were due',
  },
  QueueLatency: { unit: 'Milliseconds', help: 'from the due time of a wake-up to the start of its sync' },
  SyncDuration: { unit: 'Milliseconds', help: 'one run of sync, from claim to done' },
  ApiLatency: { unit: 'Milliseconds', help: 'one request to a cluster API' },
  SyncsWritten: { unit: 'Count', help: 'runs that wrote to the cluster' },
  SyncsUnchanged: { unit: 'Count', help: 'runs that found nothing to write' },
  SyncsFailed: { unit: 'Count', help: 'runs of a controller that failed and are retried' },
  SyncsWaiting: { unit: 'Count', help: 'runs requeued: circuit open, throttled, first lists not complete' },
  CallsUnserved: {
    unit: 'Count',
    help: 'runs requeued once more because a call failed, although the cluster answers a probe',
  },
  SyncsConflict: { unit: 'Count', help: 'writes refused because the object had changed' },
  Parked: { unit: 'Count', help: 'controllers of a service, exports and imports that used up their retries' },
  GuardedRemovals: {
    unit: 'Count',
    help: 'runs that read the pods from the API server before they removed many endpoints',
  },
  Bounced: { unit: 'Count', help: 'wake-ups that met another worker’s lease' },
  WritesEndpoints: { unit: 'Count', help: 'writes of Endpoints' },
  WritesSlices: {
    unit: 'Count',
    help: 'writes of EndpointSlices, also for Services that opt in and for imports',
  },
  WritesImports: { unit: 'Count', help: 'writes of imports’ slices, which WritesSlices includes' },
  HandOversWaiting: {
    unit: 'Count',
    help: 'runs that kept slices of a Service’s former writer because the next writer’s slices did not serve every ready address for 30 s',
  },
  OptInHeld: {
    unit: 'Count',
    help: 'runs that left slices as they are because the annotation of a Service is invalid or gone',
  },
  ServicesWithoutWriter: {
    unit: 'Count',
    help: 'services that opt in without a writer, or have slices of the hub that nobody follows; no value for a paused cluster',
  },
  HistoryLost: {
    unit: 'Count',
    help: 'records of the history that could not be written; nothing else is affected',
  },
  HistoryBytes: { unit: 'Count', help: 'bytes of the history’s records' },
  ForeignWrites: { unit: 'Count', help: 'changes of the hub’s objects that others made' },
  ShadowDifferences: {
    unit: 'Count',
    help: 'services with a confirmed difference between their endpoints and the hub’s',
  },
  Drift: {
    unit: 'Count',
    help: 'objects in which a list or the API server differed so much that the snapshot was in doubt',
  },
  SweepResends: { unit: 'Count', help: 'services woken by sweep because their work was overdue' },
  Sweeps: { unit: 'Count', help: 'runs of sweep that report the clusters' },
  OldestDirtyAge: { unit: 'Seconds', help: 'age of the oldest overdue work' },
  RelayHeartbeatAge: {
    unit: 'Seconds',
    help: 'time since the relay sent the last heartbeat that ingest has handled',
  },
  SilentRelays: {
    unit: 'Count',
    help: '1 for a cluster whose relay is silent, 0 for any other cluster; no value for a paused cluster',
  },
  OpenCircuits: {
    unit: 'Count',
    help: '1 for an active cluster that the hub cannot write to, 0 for any other active cluster',
  },
  ZonesAway: { unit: 'Count', help: 'zones of a cluster that traffic is to leave' },
  ZoneHeld: {
    unit: 'Count',
    help: 'runs that kept the pods of such a zone because no ready pod elsewhere serves all that they serve',
  },
  ZonalShiftUnread: {
    unit: 'Count',
    help: '1 for a cluster of EKS whose zonal shifts could not be read for ten minutes, 0 for any other',
  },
  CircuitOpen: { unit: 'Count', help: '1 while the circuit to the cluster is open' },
  FirstListsMissing: {
    unit: 'Count',
    help: '1 for a cluster whose first lists are not complete, 0 for any other cluster; no value for a paused cluster',
  },
  CredentialExpires: {
    unit: 'Count',
    help: 'days until the token or certificate in a cluster’s secret ends, once an hour; no value if it has no end',
  },
  IncarnationBumped: { unit: 'Count', help: 'clusters that were restored or created again' },
  ServicesInConflict: {
    unit: 'Count',
    help: 'services that are not written for a time because another client keeps writing their objects',
  },
  WriterConflict: { unit: 'Count', help: '1 while another controller writes our objects' },
  SourcesSilent: {
    unit: 'Count',
    help: '1 for an exporting cluster that is silent or in doubt: its endpoints stay in other clusters as they are',
  },
  SourcesEvicted: {
    unit: 'Count',
    help: '1 for an exporting cluster that is evicted: its endpoints are removed from other clusters',
  },
  SourcesUnknown: {
    unit: 'Count',
    help: 'clusters of an import whose exports the hub does not know, counted in each run: the import stays as it is',
  },
  ImportLatency: {
    unit: 'Milliseconds',
    help: 'from the source relay’s observation of a change (plus its batch period) to the importer’s accepted write, with every wait of the import',
  },
  ExportsRefused: {
    unit: 'Count',
    help: 'runs of a ServiceExport that is not valid: its Valid condition has the reason',
  },
  ImportsBlocked: {
    unit: 'Count',
    help: 'runs that could not write an import or the slices of a source: another owner’s object has the name, or the cluster refuses the write',
  },
  ImportsDelayed: {
    unit: 'Count',
    help: 'delayed wake-ups of imports: an exporter changed more names in a minute than its budget allows, or a worker ran as many imports as it may',
  },
  AddressCollisions: {
    unit: 'Count',
    help: 'addresses left out of an import because another source has them on the same port',
  },
  AddressesOutside: {
    unit: 'Count',
    help: 'addresses left out of an import because they are outside of the ranges that their cluster may export (exports.podCidrs)',
  },
  PodsTooLarge: {
    unit: 'Count',
    help: 'runs that kept endpoints because the pods of the namespace have more bytes than a run reads, or the cluster more Nodes; and runs of exports with such pods',
  },
  EvictionsHeld: {
    unit: 'Count',
    help: 'evictions that wait because half of the set is silent, or because no other source of the import is ready',
  },
} as const satisfies { readonly [name: string]: Metric };

export type MetricName = keyof typeof metrics;

/**
 * Choices of the metrics that each cluster has besides the fleet: `hub.clusterMetrics` in clusters.yaml. A
 * local run keeps all.
 */
export const clusterMetricsChoices = ['few', 'all'] as const;
export type ClusterMetrics = (typeof clusterMetricsChoices)[number];

/** Metrics with a value in every hour. CloudWatch bills a metric of a cluster for each hour with a value. */
export const steadyPerCluster: readonly MetricName[] = ['SyncLatency', 'OldestDirtyAge', 'RelayHeartbeatAge'];
/**
 * Metrics that are above 0 only during a problem. With `few` a 0 is kept for the fleet only, because the
 * cluster's alarms treat a missing value as 0.
 */
const troublePerCluster: readonly MetricName[] = [
  'SyncsFailed',
  'Parked',
  'ShadowDifferences',
  'ServicesWithoutWriter',
  'Drift',
  'CircuitOpen',
  'FirstListsMissing',
  'WriterConflict',
  'ZonesAway',
];
/**
 * How late endpoints are, whoever writes them. With `few` a delay is kept for the cluster only if it is longer
 * than the objective: enough to name the slow clusters, and free for all others.
 */
export const delayPerCluster: readonly MetricName[] = ['EndpointReadyDelay', 'EndpointRemovalDelay'];
/**
 * Further metrics of each cluster with `all`, besides upstream's gauges. SQS publishes the counts of queues'
 * messages free of charge.
 */
const morePerCluster: readonly MetricName[] = ['EventsIn', 'SyncsWritten', 'HistoryBytes'];

export const perCluster: { readonly [C in ClusterMetrics]: readonly MetricName[] } = {
  few: [...steadyPerCluster, ...troublePerCluster, ...delayPerCluster],
  all: [...steadyPerCluster, ...troublePerCluster, ...delayPerCluster, ...morePerCluster],
};

/** Returns true if a cluster's observations are kept for the cluster as well as for the fleet. */
export function isKeptOfCluster(kept: ClusterMetrics, name: MetricName, values: readonly number[]): boolean {
  if (!perCluster[kept].includes(name)) return false;
  if (kept === 'all' || steadyPerCluster.includes(name)) return true;
  const least = delayPerCluster.includes(name) ? objectiveMs : 0;
  return values.some((value) => value > least);
}
