/** The verdict on a pod: its place in the outputs of a service, with the reason. */
import type { AddressType } from '#shared/kube/types.ts';

/** The list of Endpoints that a pod belongs to. */
export type EndpointsPlace = 'addresses' | 'notReadyAddresses' | 'absent';
/** The state that a pod should have in the slices of one family, by its conditions. */
export type SlicePlace = 'ready' | 'not ready' | 'absent';

/**
 * The reason of a place, for programs. docs/reference/codes.md lists the codes; a code keeps its meaning from
 * version 0.1 on.
 */
export const reasons = [
  'Ready',
  'NotReady',
  'PublishedNotReady',
  'Terminating',
  'PodCompleted',
  'NoPodIP',
  'NoAddressOfFamily',
  'NotScheduled',
  'NodeUnknown',
  'NoMatchingPort',
  'NoServicePorts',
  'OverCapacity',
  'ZoneAway',
  'NotSelected',
  'PodDeleted',
  'ServiceDeleted',
  'ExternalName',
  'NoSelector',
  'OptIn',
] as const;
export type Reason = (typeof reasons)[number];
/**
 * A reason of a change in the history: of the pod, of a change of the Service's writer, or of another client.
 */
export type ChangeReason =
  | Reason
  | 'OptedIn'
  | 'Withdrawn'
  | 'HandedBack'
  | 'OtherWriter'
  | 'NoFamily'
  | 'NoPod';

export interface PodVerdict<Place extends string> {
  readonly place: Place;
  readonly reason: Reason;
  /** The reason, as a clause. */
  readonly why: string;
  /**
   * Start of the state, by RFC 3339, if the pod has it: transition of its Ready condition, or the request of
   * its deletion.
   */
  readonly since?: string | undefined;
  /** Conditions in the slice. Undefined in Endpoints, which lack them. */
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
  /** The pod's listed addresses, empty if the pod is absent. */
  readonly addresses: readonly string[];
  /**
   * The difference from the written outputs. Undefined without a difference, and in a verdict without
   * outputs.
   */
  readonly pending?: string;
}

/** The verdicts on a pod in both outputs of a service. */
export interface PodVerdicts {
  readonly endpoints: PodVerdict<EndpointsPlace>;
  /** A verdict for each family that the service has slices of. */
  readonly slices: readonly (PodVerdict<SlicePlace> & { readonly family: AddressType })[];
}
