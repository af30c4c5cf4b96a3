import { subscribe } from 'node:diagnostics_channel';
import OpenAI from 'openai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/** Is killed in the moment in which its caller has its answer. */
const { prompt, baseURL, options } = readInput<{
  prompt: string;
  baseURL: string;
  options: BatchifyOptions;
}>();
subscribe('batchling:call:answered', () => process.kill(process.pid, 'SIGKILL'));
const client = new OpenAI({ apiKey: 'sk-test-key', baseURL });
const messages = [{ role: 'user' as const, content: prompt }];
await batchify(() => client.chat.completions.create({ model: 'gpt-test', messages }), options);
