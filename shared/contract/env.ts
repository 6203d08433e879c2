/**
 * Names of environment variables by program. infra sets them; functions/relay/relay-settings.ts and
 * shared/hub-settings.ts read them.
 */
export const relayEnv = {
  clusterId: 'CLUSTER_ID',
  /** URL of the cluster's events queue. */
  eventsQueueUrl: 'EVENTS_QUEUE_URL',
  /** Content of Endpoints and EndpointSlices in messages: `metadata` (default) or `full`. */
  outputs: 'OUTPUTS',
  /** Seconds between periodic lists of every kind. */
  resyncSeconds: 'RESYNC_SECONDS',
  /** Port of /metrics, /healthz and /readyz. 0 chooses any free port. */
  port: 'RELAY_PORT',
  /** Listen address of that port. The default is all addresses, because the kubelet uses the pod's. */
  host: 'RELAY_HOST',
  /**
   * `namespace/name` of the Lease by which the relays of a cluster elect their leader. Without it this relay
   * always leads.
   */
  lease: 'RELAY_LEASE',
  /** Address of the API server and files of its credentials. The default is the pod's own service account. */
  apiUrl: 'KUBE_API_URL',
  apiCaFile: 'KUBE_API_CA_FILE',
  apiTokenFile: 'KUBE_API_TOKEN_FILE',
  /**
   * Local runs only: a file with a whole connection (shared/clusters/api/connection.ts). Changes of the file
   * are read.
   */
  connectionFile: 'KUBE_CONNECTION_FILE',
  /** `1`: the relay also watches Namespaces, ServiceExports and ServiceImports (docs/use/clusterset.md). */
  clusterset: 'RELAY_CLUSTERSET',
} as const;

export const hubEnv = {
  tableName: 'TABLE_NAME',
  /** The hub's name in clusters.yaml, which is part of the namespace of its metrics. Absent in local runs. */
  hubName: 'HUB_NAME',
  /** The metrics of each cluster: `few` or `all` (default). */
  clusterMetrics: 'CLUSTER_METRICS',
  /** Local runs only: a file with the clusters' connections by id. */
  connectionsFile: 'KUBE_CONNECTIONS_FILE',
} as const;
