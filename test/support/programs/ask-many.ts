import { subscribe } from 'node:diagnostics_channel';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/** Asks many questions in one batch. `dies`: it is killed when the first of them is answered. */
const { count, dies, baseURL, options } = readInput<{
  count: number;
  dies: boolean;
  baseURL: string;
  options: BatchifyOptions;
}>();
if (dies) subscribe('batchling:call:answered', () => process.kill(process.pid, 'SIGKILL'));

const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test-key' };
async function ask(content: string): Promise<number> {
  const body = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] });
  const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body });
  const { usage } = (await response.json()) as { usage: { total_tokens: number } };
  return usage.total_tokens;
}

const tokens = await batchify(
  () => Promise.all(Array.from({ length: count }, (_, index) => ask(`question ${index}`))),
  options,
);
console.log(tokens.reduce((sum, one) => sum + one, 0));
