import type { JsonObject } from '../../server/json.ts';
import type { Content } from '../../world/model/content.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { newId } from '../../world/random.ts';
import { nowInSeconds } from './now-in-seconds.ts';

export function answerResponse(body: JsonObject, content: Content): DialectAnswer {
  const inputTokens = estimateTokens(body.input, body.instructions);
  const outputTokens = estimateTokens(content);
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('resp_'),
      object: 'response',
      created_at: nowInSeconds(),
      status: 'completed',
      access_programs: null,
      error: null,
      incomplete_details: null,
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      model: String(body.model),
      output: outputOf(content),
      parallel_tool_calls: true,
      previous_response_id: body.previous_response_id ?? null,
      reasoning: { effort: null, summary: null },
      service_tier: 'default',
      store: body.store ?? true,
      temperature: body.temperature ?? 1,
      text: body.text ?? { format: { type: 'text' } },
      tool_choice: body.tool_choice ?? 'auto',
      tools: body.tools ?? [],
      top_p: body.top_p ?? 1,
      truncation: 'disabled',
      metadata: body.metadata ?? {},
    },
  };
}

function outputOf({ text, toolCalls }: Content): JsonObject[] {
  const output: JsonObject[] = toolCalls.map(({ name, arguments: values }) => ({
    id: newId('fc_'),
    type: 'function_call',
    status: 'completed',
    call_id: newId('call_'),
    name,
    arguments: JSON.stringify(values),
  }));
  if (text === null) return output;
  output.unshift({
    id: newId('msg_'),
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  });
  return output;
}
