import OpenAI from 'openai';
import { type BatchifyOptions, batchify, realtime } from '../../../src/index.ts';
import { readInput } from './read-input.ts';

/** Nothing here keeps the process up but the calls that wait. */
const { form, baseURL, options } = readInput<{
  form: 'function' | 'scope' | 'fetch' | 'unused';
  baseURL: string;
  options: BatchifyOptions;
}>();
const client = new OpenAI({ apiKey: 'sk-test-key', baseURL });

function ask(by: OpenAI) {
  return by.chat.completions.create({
    model: 'gpt-test',
    messages: [{ role: 'user', content: 'are you alive' }],
  });
}

function print(answer: OpenAI.ChatCompletion): void {
  console.log(answer.choices[0]?.message.content);
}

if (form === 'function') {
  void batchify(() => ask(client), options).then(print);
} else if (form === 'scope') {
  const scope = batchify(options);
  scope.run(() => {
    void ask(client).then(print);
  });
} else if (form === 'fetch') {
  const scope = batchify({ ...options, hooks: false });
  void ask(new OpenAI({ apiKey: 'sk-test-key', baseURL, fetch: scope.fetch })).then(print);
} else {
  void batchify(() => realtime(() => ask(client)), options).then(print);
}
