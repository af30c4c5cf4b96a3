import OpenAI from 'openai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { prompts, baseURL, options } = readInput<{
  prompts: string[];
  baseURL: string;
  options: BatchifyOptions;
}>();
const client = new OpenAI({ apiKey: 'sk-test-key', baseURL });

const statuses = await batchify(
  () =>
    Promise.all(
      prompts.map(async (content) => {
        const messages = [{ role: 'user' as const, content }];
        const request = { model: 'gpt-4o-mini', max_tokens: 1_000_000, messages };
        const asked = client.chat.completions.create(request);
        return asked.then(
          () => 200,
          (error: { status?: number }) => error.status,
        );
      }),
    ),
  options,
);
console.log(JSON.stringify(statuses));
