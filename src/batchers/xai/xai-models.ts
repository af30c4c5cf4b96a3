/**
 * xAI's page of prices (docs.x.ai/developers/pricing, read 2026-08-28) names a fifth off for `grok-4.3` and
 * the `grok-4.20` models, and no discount for any other. Earlier copies of the page said half.
 */
const discounted = /^grok-4\.(3|20)(-|$)/;

/** What a batch of this model costs, as a share of the list price. */
export function priceShareOf(model: string): number {
  return discounted.test(model) ? 0.8 : 1;
}

/** Refused with "… is not supported for batch processing" by the service itself, 2026-08 to 2026-10. */
const withoutBatches: ReadonlySet<unknown> = new Set([
  'grok-3-mini',
  'grok-4.5',
  'grok-4.6',
  'grok-4.7',
  'grok-build-0.1',
]);

/** Whether xAI is known to cancel a batch with this model in it. */
export function hasNoBatches(model: unknown): boolean {
  return withoutBatches.has(model);
}
