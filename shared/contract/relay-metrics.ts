/** The metrics of a relay's /metrics, for Prometheus. The page is public: the names stay. */
export interface RelayMetric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** There is one series for each kind of object. */
  readonly byKind?: true;
  /** Labels of a histogram. */
  readonly labels?: readonly string[];
  readonly help: string;
}

export const relayMetrics = {
  relay_events_total: { type: 'counter', byKind: true, help: 'watch events read' },
  relay_unchanged_total: {
    type: 'counter',
    byKind: true,
    help: 'pod and node updates dropped because nothing that is sent had changed',
  },
  relay_lists_total: { type: 'counter', byKind: true, help: 'lists completed and accepted by the queue' },
  relay_relists_total: {
    type: 'counter',
    byKind: true,
    help: 'lists made because a watch could not be resumed',
  },
  relay_watch_errors_total: {
    type: 'counter',
    byKind: true,
    help: 'lists and watches that failed and were tried again',
  },
  relay_unsendable_total: {
    type: 'counter',
    byKind: true,
    help: 'objects omitted because they cannot be projected or are too large; the log names each',
  },
  relay_messages_total: { type: 'counter', help: 'messages that the queue has accepted' },
  relay_refused_total: {
    type: 'counter',
    help: 'messages dropped because the queue refuses them for good; the log names their objects',
  },
  relay_queue_errors_total: { type: 'counter', help: 'sends that the queue did not accept' },
  relay_heartbeats_total: { type: 'counter', help: 'heartbeats that the queue has accepted' },
  relay_sessions_total: { type: 'counter', help: 'views of the cluster begun' },
  relay_lease_errors_total: { type: 'counter', help: 'calls for the lease that failed' },
  relay_endpoint_delay_seconds: {
    type: 'histogram',
    labels: ['writer', 'change'],
    help: 'from the watch event of a pod that is ready, not_ready or deleted to the event of a slice that shows it, for each Service and family, whoever wrote the slice: hub, built_in (the cluster’s own controllers) or other',
  },
  relay_last_event_age_seconds: { type: 'gauge', byKind: true, help: 'time since the last watch event' },
  relay_waiting_objects: { type: 'gauge', help: 'objects that wait to be sent' },
  relay_ready: {
    type: 'gauge',
    help: '1 when every first list has been sent; in a standby, when it has read the Lease',
  },
  relay_leading: {
    type: 'gauge',
    help: '1 when this relay leads and sends to the hub, 0 when it is a standby',
  },
  relay_kind_served: {
    type: 'gauge',
    byKind: true,
    help: '1 for a kind of the clusterset that the cluster serves; 0: what it exports or imports is left as it was',
  },
} as const satisfies { readonly [name: string]: RelayMetric };

type Names<Shape> = {
  [N in keyof typeof relayMetrics]: (typeof relayMetrics)[N] extends Shape ? N : never;
}[keyof typeof relayMetrics];
export type RelayHistogram = Names<{ readonly type: 'histogram' }>;
export type RelayGauge = Names<{ readonly type: 'gauge' }>;
export type KindCounter = Names<{ readonly type: 'counter'; readonly byKind: true }>;
export type PlainCounter = Exclude<Names<{ readonly type: 'counter' }>, KindCounter>;
