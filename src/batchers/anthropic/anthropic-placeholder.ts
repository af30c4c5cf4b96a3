import { field, type JsonObject, listOf } from '../../base/json.ts';
import {
  forcedCall,
  type PlaceholderContent,
  plainText,
  structuredText,
} from '../placeholders/placeholder-content.ts';

/** An answer in the shape of Anthropic's messages. */
export function anthropicPlaceholder(model: string, json: JsonObject): unknown {
  const { text, toolCall } = forced(json) ?? formatted(json);
  const block = toolCall
    ? { type: 'tool_use', id: 'placeholder', name: toolCall.name, input: toolCall.input }
    : { type: 'text', text, citations: null };
  return {
    id: 'placeholder',
    type: 'message',
    role: 'assistant',
    model,
    content: [block],
    stop_reason: toolCall ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  };
}

function forced({ tools, tool_choice: choice }: JsonObject): PlaceholderContent | undefined {
  const type = field(choice, 'type');
  if (type !== 'tool' && type !== 'any') return undefined;
  const offered = listOf(tools).map((tool) => ({
    name: field(tool, 'name'),
    schema: field(tool, 'input_schema'),
  }));
  return forcedCall(offered, field(choice, 'name'));
}

function formatted(json: JsonObject): PlaceholderContent {
  const format = field(json.output_config, 'format') ?? json.output_format;
  const isSchema = field(format, 'type') === 'json_schema';
  return isSchema ? structuredText(field(format, 'schema')) : plainText();
}
