/**
 * Names of the hub's roles in IAM. API servers (AuthenticationConfiguration), roles of other accounts and
 * policies of keys trust them by ARN. A hub that is deployed again must have the same names. An account's
 * roles are those of all its regions, hence the region in each name.
 */
import { createHash } from 'node:crypto';

type HubRole = 'worker' | 'sweep' | 'register' | 'schedule' | 'worker-rollout';

/** `region` may be a placeholder that the deploy fills in. */
export const roleNameOf = (hub: string, region: string, role: HubRole): string => `${hub}-${region}-${role}`;

/** IAM's limit, characters. */
const most = 64;
/** ap-southeast-1 is one of the longest names. */
const maxRegion = 14;
const hashLength = 6;

/**
 * The id of the cluster is cut if it is too long. A hash then keeps the name apart from those of other
 * clusters.
 */
export function relayRoleNameOf(hub: string, region: string, cluster: string): string {
  const room = most - `${hub}---relay`.length - maxRegion;
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, hashLength);
  const id = cluster.length <= room ? cluster : `${cluster.slice(0, room - hashLength - 1)}-${hash}`;
  return `${hub}-${region}-${id}-relay`;
}
