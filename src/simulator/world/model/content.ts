import { isObject, type JsonObject } from '../../server/json.ts';
import type { SimulatedToolCall } from './answer-function.ts';
import { sampleSchema } from './sample-schema.ts';

/** What an answer says, before an endpoint gives it its shape. */
export interface Content {
  text: string | null;
  toolCalls: readonly SimulatedToolCall[];
}

export interface Tool {
  name: string;
  /** The JSON schema of its arguments. */
  schema: unknown;
}

export type ToolChoice = 'none' | 'auto' | 'required' | { name: string };

/** What a request wants to hear. */
export interface Demand {
  /** The tool to call now. */
  tool: Tool | null;
  /** `json` for any object, else the schema that the text has to follow. */
  format: 'text' | 'json' | { schema: unknown };
}

export const plainText: Demand = { tool: null, format: 'text' };

/**
 * A tool that must be called is called. One that may be called is called once per question, so that an
 * agent gets to use a tool and comes to an end.
 */
export function toolToCall(
  tools: readonly Tool[],
  choice: ToolChoice,
  hasResults: boolean,
): Tool | null {
  if (choice === 'none' || (choice === 'auto' && hasResults)) return null;
  if (typeof choice === 'string') return tools[0] ?? null;
  return tools.find(({ name }) => name === choice.name) ?? null;
}

/** The ordinary answer to a demand; `text` is what it says wherever there is room for a text. */
export function contentFor({ tool, format }: Demand, text: string): Content {
  if (tool !== null) {
    const sample = sampleSchema(tool.schema ?? { type: 'object' }, text);
    const values: JsonObject = isObject(sample) ? sample : {};
    return { text: null, toolCalls: [{ name: tool.name, arguments: values }] };
  }
  if (format === 'text') return { text, toolCalls: [] };
  const value = format === 'json' ? { answer: text } : sampleSchema(format.schema, text);
  return { text: JSON.stringify(value), toolCalls: [] };
}
