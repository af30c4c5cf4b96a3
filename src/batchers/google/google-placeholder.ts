import { field, type JsonObject, listOf } from '../../base/json.ts';
import {
  forcedCall,
  type PlaceholderContent,
  plainText,
  structuredText,
  unitVector,
} from '../placeholders/placeholder-content.ts';

/** An answer in the shape of Gemini's `generateContent` or `embedContent`. */
export function googlePlaceholder(endpoint: string, model: string, json: JsonObject): unknown {
  if (endpoint === 'embedContent') {
    const usual = model.includes('gemini') ? 3_072 : 768;
    return { embedding: { values: unitVector(json.outputDimensionality, usual) } };
  }
  const { text, toolCall } = forced(json) ?? formatted(json);
  const part = toolCall
    ? { functionCall: { name: toolCall.name, args: toolCall.input } }
    : { text };
  const count = field(json.generationConfig, 'candidateCount');
  const candidates = Array.from({ length: typeof count === 'number' ? count : 1 }, (_, index) => ({
    index,
    finishReason: 'STOP',
    content: { role: 'model', parts: [part] },
  }));
  const usageMetadata = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
  return { candidates, usageMetadata, modelVersion: model, responseId: 'placeholder' };
}

function forced({ tools, toolConfig }: JsonObject): PlaceholderContent | undefined {
  const config = field(toolConfig, 'functionCallingConfig');
  if (String(field(config, 'mode')).toUpperCase() !== 'ANY') return undefined;
  const offered = listOf(tools)
    .flatMap((tool) => listOf(field(tool, 'functionDeclarations')))
    .map((tool) => ({
      name: field(tool, 'name'),
      schema: field(tool, 'parametersJsonSchema') ?? field(tool, 'parameters'),
    }));
  return forcedCall(offered, listOf(field(config, 'allowedFunctionNames'))[0]);
}

function formatted({ generationConfig: config }: JsonObject): PlaceholderContent {
  const schema = field(config, 'responseJsonSchema') ?? field(config, 'responseSchema');
  const isJson = field(config, 'responseMimeType') === 'application/json';
  return isJson || schema !== undefined ? structuredText(schema) : plainText();
}
