import type { JsonObject } from '../../server/json.ts';
import type { Content } from '../../world/model/content.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { newId } from '../../world/random.ts';
import { nowInSeconds } from './now-in-seconds.ts';

export function answerChat(body: JsonObject, content: Content): DialectAnswer {
  const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({
    index,
    message: messageOf(content),
    logprobs: null,
    finish_reason: content.toolCalls.length > 0 ? 'tool_calls' : 'stop',
  }));
  const inputTokens = estimateTokens(body.messages);
  const outputTokens = estimateTokens(content) * choices.length;
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('chatcmpl-'),
      object: 'chat.completion',
      created: nowInSeconds(),
      model: String(body.model),
      choices,
      service_tier: 'default',
      system_fingerprint: 'fp_simulator',
    },
  };
}

function messageOf({ text, toolCalls }: Content) {
  const message = { role: 'assistant', content: text, refusal: null, annotations: [] };
  if (toolCalls.length === 0) return message;
  const calls = toolCalls.map(({ name, arguments: values }) => ({
    id: newId('call_'),
    type: 'function',
    function: { name, arguments: JSON.stringify(values) },
  }));
  return { ...message, tool_calls: calls };
}
