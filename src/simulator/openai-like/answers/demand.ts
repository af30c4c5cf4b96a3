import { isObject, type JsonObject } from '../../server/json.ts';
import {
  type Demand,
  plainText,
  type Tool,
  type ToolChoice,
  toolToCall,
} from '../../world/model/content.ts';
import { sinceLastUserTurn } from '../../world/model/prompt.ts';

/** By endpoint: what a request wants to hear. Endpoints that say nothing are missing. */
export const demands: Record<string, (body: JsonObject) => Demand> = {
  '/v1/chat/completions': chatDemand,
  '/v1/responses': responseDemand,
  '/v1/completions': () => plainText,
};

function chatDemand({ tools, tool_choice: choice, response_format: format, messages }: JsonObject) {
  const hasResults = sinceLastUserTurn(messages).some(
    (turn) => isObject(turn) && turn.role === 'tool',
  );
  const offered = listOf(tools).map((tool) => tool.function);
  return {
    tool: toolToCall(toTools(offered), toChoice(choice), hasResults),
    format: toFormat(format, isObject(format) ? format.json_schema : undefined),
  };
}

function responseDemand({ tools, tool_choice: choice, text, input }: JsonObject): Demand {
  const hasResults = sinceLastUserTurn(input).some(
    (item) => isObject(item) && item.type === 'function_call_output',
  );
  const offered = listOf(tools).filter(({ type }) => type === 'function');
  const format = isObject(text) ? text.format : undefined;
  return {
    tool: toolToCall(toTools(offered), toChoice(choice), hasResults),
    format: toFormat(format, format),
  };
}

function toTools(functions: readonly unknown[]): Tool[] {
  return functions
    .filter(isObject)
    .map(({ name, parameters }) => ({ name: String(name), schema: parameters }));
}

/** Chat completions name the tool inside of `function`, responses beside the type. */
function toChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return choice;
  if (!isObject(choice)) return 'auto';
  const named = isObject(choice.function) ? choice.function : choice;
  return typeof named.name === 'string' ? { name: named.name } : 'auto';
}

function toFormat(format: unknown, holder: unknown): Demand['format'] {
  if (!isObject(format)) return 'text';
  if (format.type === 'json_schema' && isObject(holder)) return { schema: holder.schema };
  return format.type === 'json_object' ? 'json' : 'text';
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
