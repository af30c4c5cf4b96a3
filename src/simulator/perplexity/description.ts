import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { invalid } from '../openai-like/errors.ts';
import { thirtyDays } from '../openai-like/files/files.ts';

const dollarsPerToken = { input: 1e-6, output: 2e-6, search: 0.005 };

/** Perplexity: batches of requests to agents, whose answers say what they cost. */
export const perplexityDescription: OpenAILike = {
  ...openaiDescription,
  name: 'perplexity',
  barePaths: [],
  endpoints: ['/v1/agent'],
  createFields: ['input_file_id', 'endpoint', 'completion_window', 'metadata'],
  answersAs: () => '/v1/responses',
  bytesPerBatch: 200_000_000,
  scopeHeaders: [],
  batchObject: ({ model: _model, usage: _usage, ...batch }) => batch,
  lifetimeOf(form) {
    const name = [...form.keys()].find((field) => field.startsWith('expires_after'));
    if (name !== undefined) throw invalid(name, 'it is not supported.');
    return thirtyDays;
  },
  usage(_told, { input, output, cacheRead, cacheWrite, webSearches }) {
    const paid = {
      input_cost: input * dollarsPerToken.input,
      output_cost: output * dollarsPerToken.output,
      tool_calls_cost: webSearches * dollarsPerToken.search,
    };
    const total = paid.input_cost + paid.output_cost + paid.tool_calls_cost;
    return {
      input_tokens: input,
      input_tokens_details: {
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: cacheWrite,
      },
      output_tokens: output,
      total_tokens: input + output,
      cost: { currency: 'USD', ...paid, total_cost: total },
    };
  },
};
