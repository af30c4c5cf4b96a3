/** One behaviour taken out, and the tests that must notice. */
export interface Mutant {
  /** What goes wrong with it. */
  readonly name: string;
  /** Number of the promise that it breaks. */
  readonly promise: number;
  readonly file: string;
  /** Short, so that it survives changes around it. Every place where it stands is replaced. */
  readonly search: string;
  readonly replace: string;
  readonly tests: readonly string[];
  /** Part of the names of the tests, where a file is slow. */
  readonly only?: string;
}
