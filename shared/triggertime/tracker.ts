// placeholder: replaced by the trigger-time tracker
export interface TriggerTimes {
  /** Creation time of the service at the last computation, in ms since the epoch. */
  readonly service: number;
  /** Pod name → its trigger time at the last computation, in ms since the epoch. */
  readonly pods: ReadonlyMap<string, number>;
}
