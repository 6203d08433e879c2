/** Which of a cluster's relays speaks (functions/relay/election/lease.ts). */
export interface ElectionLimits {
  /** A standby takes a lease that it has not seen renewed for so long, ms. Whole seconds: the Lease says it. */
  readonly leaseMs: number;
  /** The holder speaks for so long after it began a renewal that succeeded, ms: less than `leaseMs`, for what is on its way and clocks that run apart. */
  readonly trustMs: number;
  readonly renewMs: number;
  /** How often a standby looks, and the holder repeats a renewal that failed, ms. */
  readonly lookMs: number;
  /** Of one call, ms: less than `trustMs` less `renewMs`, so that one may be lost. */
  readonly callMs: number;
  /** The holder gives the lease back when the queue has accepted nothing for so long, ms; doubled up to `mostPatienceMs` until the queue accepts again. */
  readonly patienceMs: number;
  readonly mostPatienceMs: number;
  /** A relay that gave the lease back, or has just started, leaves it to others for so long, ms. */
  readonly abstainMs: number;
  /** A relay that would have to list first leaves a lease that is free to others for so much longer, ms. */
  readonly coldMs: number;
  /** A standby that the holder tells nothing for so long reads its first lists without, ms, and is ready; it will have to send them. */
  readonly untoldMs: number;
}

/** A standby speaks 7 s after the holder's last renewal at most. kube-controller-manager's defaults: 15 s, a look every 2 s. */
export const electionDefaults: ElectionLimits = {
  leaseMs: 6_000,
  trustMs: 4_500,
  renewMs: 1_500,
  lookMs: 1_000,
  callMs: 1_500,
  patienceMs: 4_000,
  mostPatienceMs: 60_000,
  abstainMs: 3_000,
  coldMs: 2_000,
  untoldMs: 60_000,
};
