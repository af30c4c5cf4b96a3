import { count, field, fields, type JsonObject, text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import { includingCache } from '../../pricing/usage.ts';
import { openaiResponses } from '../../streams/openai-responses.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
import type { Call, Limits, Match, Plan, Remote, RouteKey, Usage } from '../batcher.ts';
import { perplexityInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { judgeOpenAI } from '../openai/openai-judge.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { judgeNamedLine } from '../shared/named-request.ts';

/**
 * Perplexity's batches of requests to its agents: OpenAI's, whose create can be repeated under one key.
 *
 * @example
 * await batchify(askAll, { only: 'perplexity' });
 */
export class PerplexityBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = perplexityInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    windows: { '24h': { word: '24h', priceShare: 1 } },
    cachedInput: 'discounted',
  };
  protected override readonly judge = judgeNamedLine(judgeOpenAI);

  override match(call: Call): Match {
    const model = modelOf(call.json);
    if (model === undefined) return { bypass: 'the body names neither a model nor a preset' };
    return super.match({ ...call, json: { ...call.json, model } });
  }

  protected override endpointOf(): string {
    return '/v1/agent';
  }

  protected override dialect(): StreamDialect {
    return openaiResponses;
  }

  /** A repeat with the same key is answered with the first batch, so that there are no twins. */
  override create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote> {
    const batchHeaders = { ...plan.route.batchHeaders, 'idempotency-key': plan.token };
    return super.create(wire, { ...plan, route: { ...plan.route, batchHeaders } }, handle);
  }

  override placeholder({ model }: RouteKey, json: JsonObject): Promise<unknown> {
    return super.placeholder({ endpoint: '/v1/responses', model }, { ...json, model });
  }

  /** Searches and other tools are paid for, too: the answer says what it cost in all. */
  override usage(json: unknown): Usage | undefined {
    const usage = super.usage(json);
    if (usage === undefined) return undefined;
    const { input_tokens_details: details, cost } = fields(field(json, 'usage'));
    const billed = field(cost, 'total_cost');
    return includingCache({
      ...usage,
      cacheReadTokens: count(field(details, 'cache_read_input_tokens')),
      cacheWriteTokens: count(field(details, 'cache_creation_input_tokens')),
      ...(typeof billed === 'number' && { billed }),
    });
  }
}

/** What a request is for: a chain of models counts more than one model, and a preset stands for both. */
function modelOf({ models, model, preset }: JsonObject): string | undefined {
  const [first]: unknown[] = Array.isArray(models) ? models : [];
  return text(first) ?? text(model) ?? text(preset);
}

const notes: ProviderNotes = {
  title: 'Perplexity',
  foundBy: 'its input file; a create that is repeated under its key brings the same batch',
  remarks: [
    'Requests to agents are batched, with all their tools; Sonar chat completions have no batches.',
    'No discount is known. What a batch lifts is the limit of requests per minute; limits of tokens stay.',
    'Answers say what they cost, searches and other tools included, and that is what batchling counts.',
    'Files and results are kept for 30 days. Organisations without data retention have no batches.',
  ],
  unconfirmed: [
    'Which endpoint a line names for a call to `/v1/responses`: batchling writes `/v1/agent`, of which it is another name.',
    'How an upload names a bad line: batchling understands "line 3".',
    'What a line of the error file looks like: batchling reads those of OpenAI.',
  ],
};
