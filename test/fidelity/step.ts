/** One exotic thing that a client does, and everything that can be seen of it. */
export interface Step {
  readonly name: string;
  /** Needs both directions at once, which a request that is held back first cannot have. */
  readonly interactive?: true;
  run(): Promise<unknown>;
}
