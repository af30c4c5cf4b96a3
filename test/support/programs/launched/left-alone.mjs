// A program that knows nothing of batchling. Its argument says what it asks, and what else it does.
import { subscribe } from 'node:diagnostics_channel';

const { client, baseURL, prompts, form, also } = JSON.parse(process.argv[2]);
const apiKey = 'sk-left-alone';

const clients = {
  async fetch() {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    return async (request) => {
      const body = JSON.stringify(request);
      const init = { method: 'POST', headers, body };
      const response = await fetch(`${baseURL}/chat/completions`, init);
      return (await response.json()).choices[0].message.content;
    };
  },
  async withOwnTimer() {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    return async (request) => {
      setTimeout(() => console.log('saved'), 1_000);
      const init = { method: 'POST', headers, body: JSON.stringify(request), signal: stop.signal };
      const response = await fetch(`${baseURL}/chat/completions`, init);
      return (await response.json()).choices[0].message.content;
    };
  },
  async openai() {
    const { default: OpenAI } = await import('openai');
    const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
    return async (request) =>
      (await openai.chat.completions.create(request)).choices[0].message.content;
  },
  async anthropic() {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const anthropic = new Anthropic({ apiKey, baseURL, maxRetries: 0 });
    return async (request) =>
      (await anthropic.messages.create({ ...request, max_tokens: 9 })).content[0].text;
  },
};
const complete = await clients[client]();
const ask = async (content) => {
  console.log(await complete({ model: 'm', messages: [{ role: 'user', content }] }));
};

const forms = {
  'all at once': () => Promise.all(prompts.map(ask)),
  async 'one after another'() {
    for (const prompt of prompts) await ask(prompt);
  },
};

const extras = {
  tellCaptured: () => subscribe('batchling:call:captured', () => console.log('captured')),
  ownInterrupt: () => process.once('SIGINT', () => console.log('my own')),
  ownExit: () => process.on('SIGINT', () => process.exit(9)),
  askWhenInterrupted: () => process.once('SIGINT', () => ask('too late')),
  exitHook: async () => (await import('signal-exit')).onExit((code) => console.log('hook', code)),
  askAtTheEnd: () => process.once('beforeExit', () => ask('at the end')),
  workAtTheEnd: () =>
    process.once('beforeExit', () => {
      console.log('at work');
      extras.stayBusy();
    }),
  stayBusy: () => {
    process.stdin.once('data', () => {
      console.log('still here');
      process.stdin.destroy();
    });
  },
};
for (const name of also ?? []) await extras[name]();

async function main() {
  console.log('asking');
  await forms[form]();
  process.exitCode = 3;
}
if (process.argv[3] === 'top-level await') await main();
else main().catch((error) => console.log('failed', error));
