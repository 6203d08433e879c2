/** An action on a hub, and the facts that must be true afterwards. */
export interface Step {
  readonly fact: string;
  readonly check: () => Promise<void>;
}
