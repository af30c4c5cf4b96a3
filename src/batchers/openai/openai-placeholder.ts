import { field, type JsonObject, listOf } from '../../base/json.ts';
import {
  forcedCall,
  type PlaceholderContent,
  plainText,
  structuredText,
  unitVector,
} from '../placeholders/placeholder-content.ts';
import { embeddingInputs } from './openai-embeddings.ts';

const id = 'placeholder';
const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** An answer in the shape of OpenAI's; `undefined` for endpoints that it has none for. */
export function openaiPlaceholder(endpoint: string, json: JsonObject): unknown {
  const { model } = json;
  if (endpoint.endsWith('/embeddings')) return embeddings(json);
  if (endpoint.endsWith('/responses')) return response(json);
  const choices = (choice: (index: number) => object) =>
    Array.from({ length: typeof json.n === 'number' ? json.n : 1 }, (_, index) => choice(index));
  if (/\/(chat|fim)\/completions$/.test(endpoint)) {
    const object = 'chat.completion';
    return {
      id,
      object,
      created: 0,
      model,
      usage: noUsage,
      choices: choices((index) => ({ index, ...chatChoice(json), logprobs: null })),
    };
  }
  if (!endpoint.endsWith('/completions')) return undefined;
  const { text } = plainText();
  return {
    id,
    object: 'text_completion',
    created: 0,
    model,
    usage: noUsage,
    choices: choices((index) => ({ index, text, finish_reason: 'stop', logprobs: null })),
  };
}

function chatChoice(json: JsonObject): object {
  const { text, toolCall } = chatContent(json);
  if (toolCall === undefined) {
    const message = { role: 'assistant', content: text, refusal: null };
    return { message, finish_reason: 'stop' };
  }
  const { name, input } = toolCall;
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
  return { message, finish_reason: 'tool_calls' };
}

function chatContent({ response_format: format, tools, tool_choice }: JsonObject) {
  const offered = listOf(tools).map((tool) => field(tool, 'function'));
  const forced = forcedBy(tool_choice, offered, field(field(tool_choice, 'function'), 'name'));
  return forced ?? formatted(format, field(field(format, 'json_schema'), 'schema'));
}

function response(json: JsonObject): object {
  const { text: format, tools, tool_choice, model } = json;
  const asked = field(format, 'format');
  const forced = forcedBy(tool_choice, listOf(tools), field(tool_choice, 'name'));
  const { text, toolCall } = forced ?? formatted(asked, field(asked, 'schema'));
  const status = 'completed';
  const item = toolCall
    ? {
        id,
        type: 'function_call',
        status,
        call_id: id,
        name: toolCall.name,
        arguments: JSON.stringify(toolCall.input),
      }
    : {
        id,
        type: 'message',
        status,
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      };
  return {
    id,
    object: 'response',
    created_at: 0,
    status,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output: [item],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    temperature: 1,
    top_p: 1,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

/** "required" means any tool; an object names one. `undefined`: the model may answer with a text. */
function forcedBy(
  choice: unknown,
  offered: readonly unknown[],
  name: unknown,
): PlaceholderContent | undefined {
  const isForced = choice === 'required' || choice === 'any' || name !== undefined;
  if (!isForced) return undefined;
  const tools = offered.map((tool) => ({
    name: field(tool, 'name'),
    schema: field(tool, 'parameters'),
  }));
  return forcedCall(tools, name);
}

function formatted(format: unknown, schema: unknown): PlaceholderContent {
  const type = field(format, 'type');
  return type === 'json_schema' || type === 'json_object' ? structuredText(schema) : plainText();
}

function embeddings(json: JsonObject): object {
  const { model, dimensions, encoding_format: encoding } = json;
  const usual = String(model).includes('3-large') ? 3_072 : 1_536;
  const vector = unitVector(dimensions, usual);
  const embedding =
    encoding === 'base64'
      ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
      : vector;
  const data = Array.from({ length: embeddingInputs(json) }, (_, index) => ({
    object: 'embedding',
    index,
    embedding,
  }));
  return { object: 'list', data, model, usage: { prompt_tokens: 0, total_tokens: 0 } };
}
