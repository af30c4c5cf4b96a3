/**
 * Models that cost half in a batch; all others cost as much as online, and so does every dedicated endpoint.
 *
 * Source: docs.together.ai/docs/inference/batch/overview and the API reference of Together's own batch skill
 * (github.com/togethercomputer/skills), both as read in November 2026. Another copy of the overview also
 * names Llama-3-70b-chat-hf, Qwen2.5-7B-Instruct-Turbo, Mixtral-8x7B-Instruct-v0.1 and GLM-4.5-Air-FP8. Where
 * the pages differ the price is taken to be the higher one, so that no budget is passed unnoticed.
 */
const halfPrice: ReadonlySet<string> = new Set(['meta-llama/Llama-3.3-70B-Instruct-Turbo']);

/** What a request to this model costs in a batch, as a share of its price online. */
export function priceShareOf(model: string): number {
  return halfPrice.has(model) ? 0.5 : 1;
}
