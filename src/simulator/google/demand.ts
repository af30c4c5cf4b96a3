import { isObject, type JsonObject } from '../server/json.ts';
import { type Demand, type Tool, type ToolChoice, toolToCall } from '../world/model/content.ts';
import { listOf } from '../world/model/stream-pieces.ts';
import { holdsFunctionResults, sinceLastUserContent } from './contents.ts';

/** What a call of generateContent wants to hear. */
export function demandOf(body: JsonObject): Demand {
  const hasResults = sinceLastUserContent(body.contents).some(holdsFunctionResults);
  return {
    tool: toolToCall(toolsOf(body.tools), choiceOf(body.toolConfig), hasResults),
    format: formatOf(body.generationConfig),
  };
}

function toolsOf(tools: unknown): Tool[] {
  return listOf(tools)
    .flatMap(({ functionDeclarations: functions }) => listOf(functions))
    .map(({ name, parameters, parametersJsonSchema: schema }) => ({
      name: String(name),
      schema: schema ?? toJsonSchema(parameters),
    }));
}

function choiceOf(config: unknown): ToolChoice {
  const calling = isObject(config) ? config.functionCallingConfig : undefined;
  if (!isObject(calling)) return 'auto';
  const { mode, allowedFunctionNames: allowed } = calling;
  if (mode === 'NONE') return 'none';
  if (mode !== 'ANY') return 'auto';
  return Array.isArray(allowed) && allowed.length > 0 ? { name: String(allowed[0]) } : 'required';
}

function formatOf(config: unknown): Demand['format'] {
  if (!isObject(config)) return 'text';
  const { responseMimeType: type, responseSchema: own, responseJsonSchema: schema } = config;
  if (schema !== undefined) return { schema };
  if (own !== undefined) return { schema: toJsonSchema(own) };
  return type === 'application/json' ? 'json' : 'text';
}

/** Google's schemas are those of OpenAPI, with their types in capitals. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).map(([name, value]) => {
    const isType = name === 'type' && typeof value === 'string';
    return [name, isType ? value.toLowerCase() : toJsonSchema(value)];
  });
  return Object.fromEntries(entries);
}
