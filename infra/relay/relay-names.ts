/** Names that the relay's manifest, IAM and the clusters' access entries share. */
export const relayServiceAccount = 'relay';
/** The audience that AWS STS expects in a token. */
export const relayTokenAudience = 'sts.amazonaws.com';
/** The Lease of the relays' leader election. */
export const relayLease = 'relay';
/** Group that the hub's functions have in a cluster; the writer's ClusterRole is bound to it. */
export const writerGroup = 'fleet-endpoints:writers';
/** For clusters that let the hub in with a token of a service account. */
export const writerServiceAccount = 'writer';
/**
 * On a Service: the writer stays away from its endpoints. For those without selector, whose endpoints are
 * made by hand.
 */
export const protectedLabel = { key: 'fleet-endpoints/protected', value: 'true' } as const;
