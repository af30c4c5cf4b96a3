import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Content } from '../world/model/content.ts';
import type { Dialect, DialectAnswer } from '../world/model/execute.ts';
import { estimateTokens, lastUserText } from '../world/model/prompt.ts';
import { listOf } from '../world/model/stream-pieces.ts';
import { newId } from '../world/random.ts';
import { demandOf } from './demand.ts';
import { checkMarks, prefixesOf } from './prefixes.ts';
import { tellUsage } from './usage.ts';

const newer = '2026-10-21';
const samplingFields = ['temperature', 'top_p', 'top_k'];

export function realtimeDialect(version: string): Dialect {
  return {
    provider: 'anthropic',
    prompt: (_endpoint, body) => lastUserText(body.messages),
    check: (_endpoint, body) => check(body, version),
    unknownModel: (model) => ({ kind: 'refused', status: 404, message: `model: ${model}` }),
    demand: (_endpoint, body) => demandOf(body),
    answer: (_endpoint, body, content) => answer(body, content ?? silence, version, 'standard'),
    encode: (_endpoint, _body, given) => given,
    inputTokens: (_endpoint, body) => inputTokens(body),
    tellUsage: (_endpoint, message, usage) => tellUsage(message, usage),
    prefixes: (_endpoint, body, model, limits) => prefixesOf(body, model, limits),
  };
}

/** What a create call says about every request of its batch. */
export interface BatchWide {
  readonly version: string;
  readonly userProfile: string | undefined;
}

export function batchDialect({ version, userProfile }: BatchWide): Dialect {
  return {
    ...realtimeDialect(version),
    check: (_endpoint, body) => checkBatched(body, userProfile) ?? check(body, version),
    answer: (_endpoint, body, content) => answer(body, content ?? silence, version, 'batch'),
  };
}

function check(body: JsonObject, version: string): Outcome | null {
  for (const field of ['model', 'max_tokens', 'messages']) {
    if (body[field] === undefined) return refused(`${field}: Field required`);
  }
  if (typeof body.max_tokens !== 'number' || body.max_tokens < 0) {
    return refused('max_tokens: Input should be a valid integer');
  }
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    return refused('messages: at least one message is required');
  }
  const sampling = samplingFields.find((field) => body[field] !== undefined);
  if (version >= newer && sampling !== undefined) {
    return refused(`${sampling}: not supported by version ${version}`);
  }
  const mark = checkMarks(body);
  if (mark !== null) return refused(mark);
  // Clients know them as a parameter; on the wire they are a header.
  if (body.betas !== undefined) return refused('betas: Extra inputs are not permitted');
  return null;
}

function checkBatched(body: JsonObject, userProfile: string | undefined): Outcome | null {
  if (body.stream === true) return refused('stream: streaming is not supported in batches');
  if (body.speed !== undefined) return refused('speed: not supported in batches');
  if (listOf(body.fallbacks).some(({ speed }) => speed !== undefined)) {
    return refused('fallbacks: speed is not supported in batches');
  }
  if (body.max_tokens === 0) return refused('max_tokens: 0 is not supported in batches');
  if (body.thread !== undefined) return refused('thread: not supported in batches');
  const { user_profile_id: own } = body;
  if (userProfile !== undefined && own !== undefined && own !== userProfile) {
    return refused('user_profile_id: conflicts with the header of the batch');
  }
  return null;
}

function refused(message: string): Outcome {
  return { kind: 'refused', status: 400, message };
}

const silence: Content = { text: '', toolCalls: [] };

function inputTokens({ tools, system, messages }: JsonObject): number {
  return estimateTokens(tools, system, messages);
}

function answer(
  body: JsonObject,
  content: Content,
  version: string,
  serviceTier: string,
): DialectAnswer {
  const asked = inputTokens(body);
  const outputTokens = estimateTokens(content);
  return {
    inputTokens: asked,
    outputTokens,
    body: {
      id: newId('msg_'),
      type: 'message',
      role: 'assistant',
      model: String(body.model),
      content: blocksOf(content, version >= newer),
      stop_reason: content.toolCalls.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: { service_tier: serviceTier, speed: null },
    },
  };
}

/**
 * The newer version says what there is none of. Clients of the older one do not expect that: some refuse
 * `citations: null`.
 */
function blocksOf({ text, toolCalls }: Content, isExplicit: boolean): JsonObject[] {
  const calls = toolCalls.map(({ name, arguments: input }) => ({
    type: 'tool_use',
    id: newId('toolu_'),
    name,
    input,
    ...(isExplicit && { caller: { type: 'direct' } }),
  }));
  if (text === null) return calls;
  return [{ type: 'text', text, ...(isExplicit && { citations: null }) }, ...calls];
}
