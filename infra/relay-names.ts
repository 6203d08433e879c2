/** Names that the relay's manifest, IAM and the clusters' access entries share. */
export const relayServiceAccount = 'relay';
/** Group that the hub's functions have in a cluster; the writer's ClusterRole is bound to it. */
export const writerGroup = 'fleet-endpoints:writers';
/** For clusters that let the hub in with a token of a service account. */
export const writerServiceAccount = 'writer';
