import { readInput } from '../parts/read-input.ts';

/** Makes its client first and loads the package afterwards: the client keeps the fetch it found. */
const { baseURL, options, cure } = readInput<{
  baseURL: string;
  options: Record<string, unknown>;
  cure: 'none' | 'fetch';
}>();

const { default: OpenAI } = await import('openai');
const early = new OpenAI({ apiKey: 'sk-test-key', baseURL });
const { batchify } = await import('../../../../src/index.ts');

const bypassed: unknown[] = [];
const warnings: string[] = [];
process.on('warning', ({ name, message }) => {
  if (name === 'BatchlingWarning') warnings.push(message);
});

const scope = batchify(options);
scope.on('call:bypassed', (event) => bypassed.push(event));
const client = cure === 'fetch' ? early.withOptions({ fetch: scope.fetch }) : early;
const ask = (content: string) =>
  client.chat.completions
    .create({ model: 'gpt-test', messages: [{ role: 'user', content }] })
    .then(({ choices }) => choices[0]?.message.content);
const answers = await scope.run(() => Promise.all([ask('one'), ask('two')]));
await scope.close();
// A warning is told in a later turn.
await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify({ answers, bypassed, warnings, captured: scope.stats.captured }));
