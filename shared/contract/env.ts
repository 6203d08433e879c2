/** Names of environment variables, per program: declared here, set by infra, read by settings.ts. */
export const relayEnv = {
  clusterId: 'CLUSTER_ID',
  /** URL of the cluster's events queue. */
  eventsQueueUrl: 'EVENTS_QUEUE_URL',
  /** `metadata` (default) or `full`: what is sent of Endpoints and EndpointSlices. */
  outputs: 'OUTPUTS',
  /** Seconds between periodic lists of every kind. */
  resyncSeconds: 'RESYNC_SECONDS',
  /** Port of /metrics, /healthz and /readyz; 0 for any free one. */
  port: 'RELAY_PORT',
  /** Address that they are served at; by default all, as the kubelet comes by the pod's. */
  host: 'RELAY_HOST',
  /** `namespace/name` of the Lease by which the relays of a cluster elect their leader; without it this relay always leads. */
  lease: 'RELAY_LEASE',
  /** Address of the API server and where its credentials are; by default the pod's own service account. */
  apiUrl: 'KUBE_API_URL',
  apiCaFile: 'KUBE_API_CA_FILE',
  apiTokenFile: 'KUBE_API_TOKEN_FILE',
  /** Local runs only: a file with a whole connection (shared/cluster-api/connection.ts), re-read when it changes. */
  connectionFile: 'KUBE_CONNECTION_FILE',
  /** `1`: Namespaces, ServiceExports and ServiceImports are watched too (docs/clusterset.md). */
  clusterset: 'RELAY_CLUSTERSET',
  /** `1`: end with exit code 3 when the API server refuses the first list, instead of waiting for its rights. */
  failFast: 'RELAY_FAIL_FAST',
} as const;

export const hubEnv = {
  tableName: 'TABLE_NAME',
  /** The hub's name in clusters.yaml: part of the namespace of its metrics. Local runs have none. */
  hubName: 'HUB_NAME',
  /** `few` or `all` (default): the metrics that are kept for each cluster. */
  clusterMetrics: 'CLUSTER_METRICS',
  /** Queues as JSON: cluster id → { events, syncs, parked, quarantine } URLs. */
  queues: 'QUEUES',
  /** Local runs only: file with the clusters' connections by id. */
  connectionsFile: 'KUBE_CONNECTIONS_FILE',
} as const;
