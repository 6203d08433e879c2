/** A relay without a heartbeat for so long counts as silent: three heartbeats (`relay.heartbeatMs`). */
export const silentAfterMs = 90_000;
