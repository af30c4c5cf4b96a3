/** What a realtime call of ours takes from the budget of its run. */
export interface Spending {
  /** Before it is sent. A text says that there is no room, and why. */
  reserve(): Promise<string | undefined>;
  /** What it has cost in dollars, once that is known. Until then its estimate counts. */
  paid(actual: number): void;
}
