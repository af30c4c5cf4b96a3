/**
 * What a user should know of a provider before a night's work goes there. It is printed in
 * docs/providers.md and loaded with the batcher only.
 *
 * @example
 * const notes: ProviderNotes = {
 *   title: 'Nimbus',
 *   foundBy: 'its input file',
 *   remarks: ['A batch of more than 500 requests takes longer than two smaller ones.'],
 *   unconfirmed: ['Whether a cancelled batch keeps its finished answers.'],
 * };
 */
export interface ProviderNotes {
  /** How people call it. */
  readonly title: string;
  /** By what a batch is found again after a crash: "its input file". */
  readonly foundBy: string;
  /** The models with a discount, where not all of them have the same. */
  readonly discounts?: string;
  /** What is different from what one would expect. */
  readonly remarks: readonly string[];
  /** What the provider's documentation leaves open, and what batchling does about it. */
  readonly unconfirmed: readonly string[];
}
