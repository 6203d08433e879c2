/** The library: constructs for an app of your own, and the stacks that a clusters file describes. */

export {
  FleetCluster,
  type FleetClusterProps,
  type KubernetesCluster,
  type RelayImage,
} from '#infra/aws/constructs/fleet-cluster.ts';
export { FleetHub } from '#infra/aws/constructs/fleet-hub.ts';
export type { FleetHubProps } from '#infra/aws/constructs/fleet-hub-props.ts';
export type { IFleetHub } from '#infra/aws/constructs/hub-interface.ts';
export type { FleetHubAttributes } from '#infra/aws/constructs/imported-hub.ts';
export type { ClusterInput, HubInput, RelayInput } from '#infra/aws/constructs/props.ts';
export { addFleet, type Fleet } from '#infra/aws/stacks/fleet-stacks.ts';
export {
  Snapshot as FleetTable,
  type SnapshotProps as FleetTableProps,
} from '#infra/aws/stages/snapshot-table.ts';
export type { Config } from '#infra/config/config.ts';
export { loadConfig, parseConfig } from '#infra/config/load-config.ts';
