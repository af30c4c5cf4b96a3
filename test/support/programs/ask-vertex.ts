import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { prompts, url, token, options } = readInput<{
  prompts: string[];
  url: string;
  token: string;
  options: BatchifyOptions;
}>();

const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };

await batchify(
  () =>
    Promise.all(
      prompts.map((text) => {
        const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text }] }] });
        return fetch(url, { method: 'POST', headers, body });
      }),
    ),
  options,
);
