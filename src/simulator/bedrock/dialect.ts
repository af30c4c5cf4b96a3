import { batchDialect, realtimeDialect } from '../anthropic/dialect.ts';
import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Dialect } from '../world/model/execute.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { converseDialect, unknownModel } from './converse.ts';
import type { InvocationType } from './details.ts';

type Mode = 'batch' | 'realtime';

/** Where a request would be sent outside of a batch. */
export function endpointOf(model: string, type: InvocationType): string {
  return `/model/${model}/${type === 'Converse' ? 'converse' : 'invoke'}`;
}

function modelIn(endpoint: string): string {
  return decodeURIComponent(/^\/model\/(.+)\/[a-z-]+$/.exec(endpoint)?.[1] ?? '');
}

/** Claude speaks as everywhere; all other models of InvokeModel embed. */
export function dialectOf(endpoint: string, mode: Mode): Dialect {
  if (/\/converse(-stream)?$/.test(endpoint)) return converseDialect(mode, modelIn);
  return modelIn(endpoint).includes('anthropic.') ? claudeDialect(mode) : titanDialect();
}

/** Jobs are of one type and one model, so the first line speaks for all. */
export function dialectOfJob(modelId: string, type: InvocationType): Dialect {
  return dialectOf(endpointOf(modelId, type), 'batch');
}

/** Claude's own dialect; the model stands in the path and the version in the body. */
function claudeDialect(mode: Mode): Dialect {
  const own = ({ anthropic_version: version }: JsonObject) => {
    const bare = String(version ?? '').replace(/^bedrock-/, '');
    return mode === 'batch'
      ? batchDialect({ version: bare, userProfile: undefined })
      : realtimeDialect(bare);
  };
  const whole = (endpoint: string, body: JsonObject) => ({ ...body, model: modelIn(endpoint) });
  return {
    ...own({}),
    provider: 'bedrock',
    model: modelIn,
    unknownModel,
    check: (endpoint, body) =>
      checkClaude(body) ?? own(body).check(endpoint, whole(endpoint, body)),
    answer: (endpoint, body, content, n) =>
      own(body).answer(endpoint, whole(endpoint, body), content, n),
  };
}

function checkClaude({ anthropic_version: version, model, stream }: JsonObject): Outcome | null {
  if (typeof version !== 'string') return refused('anthropic_version: Field required');
  const extra = model !== undefined ? 'model' : stream !== undefined ? 'stream' : undefined;
  return extra === undefined ? null : refused(`${extra}: Extra inputs are not permitted`);
}

/** Embeddings by Titan. */
function titanDialect(): Dialect {
  const tokensOf = (body: JsonObject) => estimateTokens(String(body.inputText ?? ''));
  return {
    provider: 'bedrock',
    model: modelIn,
    prompt: (_endpoint, body) => String(body.inputText ?? ''),
    check: (_endpoint, { inputText }) =>
      typeof inputText === 'string' ? null : refused('#: required key [inputText] not found'),
    unknownModel,
    demand: () => null,
    answer: (_endpoint, body) => ({
      body: { embedding: [0.25, -0.5, 0.75], inputTextTokenCount: tokensOf(body) },
      inputTokens: tokensOf(body),
      outputTokens: 0,
    }),
    encode: (_endpoint, _body, given) => given,
    inputTokens: (_endpoint, body) => tokensOf(body),
  };
}

function refused(message: string): Outcome {
  return { kind: 'refused', status: 400, message };
}
