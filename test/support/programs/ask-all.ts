import OpenAI from 'openai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { prompts, baseURL, options } = readInput<{
  prompts: string[];
  baseURL: string;
  options: BatchifyOptions;
}>();
const client = new OpenAI({ apiKey: 'sk-test-key', baseURL });

const answers = await batchify(
  () =>
    Promise.all(
      prompts.map(async (content) => {
        const { data, response } = await client.chat.completions
          .create({ model: 'gpt-test', messages: [{ role: 'user', content }] })
          .withResponse();
        return {
          text: data.choices[0]?.message.content,
          source: response.headers.get('x-batchling-source'),
        };
      }),
    ),
  options,
);
console.log(JSON.stringify(answers));
