import { subscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  type BatchifyOptions,
  type BatchlingEventName,
  batchify,
  type Logger,
} from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/** Prints everything that batchling tells in any way, for a look whether a key is in it. */
const { names, openaiBase, anthropicBase, options } = readInput<{
  names: BatchlingEventName[];
  openaiBase: string;
  anthropicBase: string;
  options: BatchifyOptions;
}>();

function show(what: string, value: unknown): void {
  console.log(what, JSON.stringify(value), inspect(value, { depth: 10, showHidden: true }));
}

const logger: Logger = { debug: show, info: show, warn: show, error: show };
const scope = batchify({ ...options, logger });
for (const name of names) {
  scope.on(name, (event) => show(`scope ${name}`, event));
  subscribe(`batchling:${name}`, (event) => show(`channel ${name}`, event));
}
process.on('warning', (warning) => show('warning', warning.message));

const prompts = ['good', '[[status 400]]', '[[once status 500]]', '[[missing]]', '[[expired]]'];

async function askAll(openaiKey: string, anthropicKey: string): Promise<void> {
  const openai = new OpenAI({ apiKey: openaiKey, baseURL: openaiBase });
  const anthropic = new Anthropic({ apiKey: anthropicKey, baseURL: anthropicBase });
  const calls = prompts.flatMap((content) => {
    const messages = [{ role: 'user' as const, content }];
    return [
      openai.chat.completions.create({ model: 'gpt-test', messages }),
      anthropic.messages.create({ model: 'claude-test', max_tokens: 9, messages }),
    ];
  });
  for (const outcome of await Promise.allSettled(calls)) show('outcome', outcome);
  const messages = [{ role: 'user' as const, content: 'streamed' }];
  await openai.chat.completions
    .create({ model: 'gpt-test', messages, background: true } as never)
    .then((answer) => show('bypassed', answer))
    .catch((error: unknown) => show('bypassed', error));
}

const { OPENAI_API_KEY: openaiKey = '', ANTHROPIC_API_KEY: anthropicKey = '' } = process.env;
await scope.run(() => askAll(openaiKey, anthropicKey));
await scope.run(() => askAll(`invalid-${openaiKey}`, `invalid-${anthropicKey}`));
await scope.close();
show('stats', scope.stats);
show('scope', scope);
