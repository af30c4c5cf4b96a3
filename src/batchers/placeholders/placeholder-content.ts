import { schemaInstance } from './schema-instance.ts';

/** What a model is taken to say in a dry run. */
export interface PlaceholderContent {
  readonly text: string;
  /** Only where the request forces the model to call one. */
  readonly toolCall?: { readonly name: string; readonly input: unknown };
}

/** A tool that a request offers, whatever its provider calls the parts. */
export interface OfferedTool {
  readonly name: unknown;
  readonly schema: unknown;
}

export function plainText(): PlaceholderContent {
  return { text: 'placeholder of a dry run' };
}

/** A text that follows the schema. */
export function structuredText(schema: unknown): PlaceholderContent {
  return { text: JSON.stringify(schemaInstance(schema ?? { type: 'object' })) };
}

/** Calls the tool of this name, or the first one. Without a tool there is nothing to call. */
export function forcedCall(
  tools: readonly OfferedTool[],
  name: unknown,
): PlaceholderContent | undefined {
  const tool = tools.find((one) => one.name === name) ?? tools[0];
  if (tool === undefined || typeof tool.name !== 'string') return undefined;
  const input = schemaInstance(tool.schema ?? { type: 'object', properties: {} });
  return { text: '', toolCall: { name: tool.name, input } };
}

/** A vector of length 1, so that distances can be computed. */
export function unitVector(dimensions: unknown, usual: number): number[] {
  const length = typeof dimensions === 'number' && dimensions > 0 ? dimensions : usual;
  return Array.from({ length }, (_, index) => (index === 0 ? 1 : 0));
}
