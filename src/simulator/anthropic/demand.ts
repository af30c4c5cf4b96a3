import { isObject, type JsonObject } from '../server/json.ts';
import { type Demand, type Tool, type ToolChoice, toolToCall } from '../world/model/content.ts';
import { holdsToolResults, sinceLastUserTurn } from '../world/model/prompt.ts';

/** What a message wants to hear. */
export function demandOf(body: JsonObject): Demand {
  const hasResults = sinceLastUserTurn(body.messages).some(holdsToolResults);
  return {
    tool: toolToCall(toolsOf(body.tools), toChoice(body.tool_choice), hasResults),
    format: formatOf(body),
  };
}

/** Tools of the provider's own, such as a web search, have a type and no schema. */
function toolsOf(tools: unknown): Tool[] {
  return (Array.isArray(tools) ? tools : [])
    .filter((tool): tool is JsonObject => isObject(tool) && tool.input_schema !== undefined)
    .map(({ name, input_schema: schema }) => ({ name: String(name), schema }));
}

function toChoice(choice: unknown): ToolChoice {
  if (!isObject(choice)) return 'auto';
  if (choice.type === 'none') return 'none';
  if (choice.type === 'any') return 'required';
  return choice.type === 'tool' ? { name: String(choice.name) } : 'auto';
}

function formatOf({ output_config: config, output_format: older }: JsonObject): Demand['format'] {
  const format = (isObject(config) ? config.format : undefined) ?? older;
  return isObject(format) && format.type === 'json_schema' ? { schema: format.schema } : 'text';
}
