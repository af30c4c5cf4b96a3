import { subscribe } from 'node:diagnostics_channel';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { bases, options, throwsAfter } = readInput<{
  bases: { openai: string; anthropic: string };
  options: BatchifyOptions;
  /** The function throws once each of its calls has had this event; without it, it waits for them. */
  throwsAfter?: 'call:captured' | 'batch:submitted';
}>();

const openai = new OpenAI({ apiKey: 'sk-nobody', baseURL: bases.openai });
const anthropic = new Anthropic({ apiKey: 'sk-nobody', baseURL: bases.anthropic });
const messages = [{ role: 'user' as const, content: 'hello' }];

/** Nobody stops the clients, whose time limits are ten minutes. */
const askBoth = () =>
  Promise.all([
    openai.chat.completions.create({ model: 'm', messages }),
    anthropic.messages.create({ model: 'm', messages, max_tokens: 9 }),
  ]);

function twice(event: string): Promise<void> {
  let count = 0;
  return new Promise((resolve) => {
    subscribe(`batchling:${event}`, () => {
      count += 1;
      if (count === 2) resolve();
    });
  });
}

try {
  await batchify(async () => {
    const calls = askBoth();
    if (throwsAfter === undefined) return await calls;
    await twice(throwsAfter);
    // Its code goes on when the scope has ended.
    setTimeout(() => void askBoth(), 10);
    throw new Error('a mistake of the program');
  }, options);
} catch (error) {
  console.log((error as Error).name);
}
