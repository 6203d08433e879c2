/** One thing that somebody does with a hub, and what must hold then. */
export interface Step {
  readonly fact: string;
  readonly check: () => Promise<void>;
}
