import { expect, it } from 'vitest';
import { AnthropicBatcher } from '../../batchers/anthropic/anthropic-batcher.ts';
import { BedrockBatcher } from '../../batchers/bedrock/bedrock-batcher.ts';
import { GoogleBatcher } from '../../batchers/google/google-batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { OpenRouterBatcher } from '../../batchers/openrouter/openrouter-batcher.ts';
import { VertexBatcher } from '../../batchers/vertex/vertex-batcher.ts';
import { kindOf } from './kind.ts';

const claude = (schema: object) => ({ output_config: { format: { type: 'json_schema', schema } } });
const chat = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { schema } },
});
const responses = (schema: object) => ({ text: { format: { type: 'json_schema', schema } } });

it.each([
  ['chat completions', new OpenAIBatcher(), chat],
  ['responses', new OpenAIBatcher(), responses],
  ['messages of Anthropic', new AnthropicBatcher(), claude],
  ['Claude on Vertex', new VertexBatcher(), claude],
  ['Claude on Bedrock', new BedrockBatcher(), claude],
  ['Claude at OpenRouter', new OpenRouterBatcher(), claude],
  ['responses at OpenRouter', new OpenRouterBatcher(), responses],
  [
    'Converse',
    new BedrockBatcher(),
    (schema: object) => ({
      outputConfig: { textFormat: { structure: { jsonSchema: { schema } } } },
    }),
  ],
  [
    'Gemini',
    new GoogleBatcher(),
    (responseSchema: object) => ({ generationConfig: { responseSchema } }),
  ],
])('requests with other schemas are of another kind: %s', (_what, batcher, withSchema) => {
  const keyOf = (title: string) =>
    kindOf(batcher, 'm', JSON.stringify(withSchema({ title, type: 'object' }))).key;
  expect(keyOf('Invoice')).toBe(keyOf('Invoice'));
  expect(keyOf('Invoice')).not.toBe(keyOf('Receipt'));
});
