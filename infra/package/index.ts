/** The library: constructs for an app of your own, and the stacks that a clusters file describes. */

export type { Config } from '#infra/config/config.ts';
export { loadConfig, parseConfig } from '#infra/config/load-config.ts';
export {
  FleetCluster,
  type FleetClusterProps,
  type KubernetesCluster,
  type RelayImage,
} from '#infra/constructs/fleet-cluster.ts';
export { FleetHub } from '#infra/constructs/fleet-hub.ts';
export type { FleetHubProps } from '#infra/constructs/fleet-hub-props.ts';
export type { IFleetHub } from '#infra/constructs/hub-interface.ts';
export type { FleetHubAttributes } from '#infra/constructs/imported-hub.ts';
export type { ClusterInput, HubInput, RelayInput } from '#infra/constructs/props.ts';
export { addFleet, type Fleet } from '#infra/stacks/fleet-stacks.ts';
export {
  Snapshot as FleetTable,
  type SnapshotProps as FleetTableProps,
} from '#infra/stages/snapshot-table.ts';
