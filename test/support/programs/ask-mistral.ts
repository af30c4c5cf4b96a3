import { Mistral } from '@mistralai/mistralai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { prompts, serverURL, apiKey, model, options } = readInput<{
  prompts: string[];
  serverURL: string;
  apiKey: string;
  model: string;
  options: BatchifyOptions;
}>();
const client = new Mistral({ apiKey, serverURL });

await batchify(
  () =>
    Promise.all(
      prompts.map((content) =>
        client.chat.complete({ model, messages: [{ role: 'user', content }] }),
      ),
    ),
  options,
);
