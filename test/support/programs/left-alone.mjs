// A program that knows nothing of batchling. Its argument says what it asks, and what else it does.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const { provider, baseURL, prompts, form, also } = JSON.parse(process.argv[2]);

const openai = new OpenAI({ apiKey: 'sk-left-alone', baseURL, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'sk-ant-left-alone', baseURL, maxRetries: 0 });

async function ask(content) {
  const messages = [{ role: 'user', content }];
  if (provider === 'anthropic') {
    const { content } = await anthropic.messages.create({ model: 'm', max_tokens: 9, messages });
    return content[0].text;
  }
  return (await openai.chat.completions.create({ model: 'm', messages })).choices[0].message.content;
}

async function askAll() {
  const answers = await Promise.all(prompts.map(ask));
  for (const answer of answers) console.log(answer);
  process.exitCode = 3;
}

const extras = {
  ownInterrupt: () => process.once('SIGINT', () => console.log('my own')),
  ownExit: () => process.on('SIGINT', () => process.exit(9)),
  exitHook: async () => (await import('signal-exit')).onExit((code) => console.log('hook', code)),
  lastWish: () =>
    process.once('beforeExit', async () => {
      console.log('last wish');
      console.log(await ask('last wish'));
    }),
  interval: () => {
    const timer = setInterval(() => undefined, 10);
    process.stdin.once('data', () => {
      clearInterval(timer);
      process.stdin.destroy();
      console.log('stopped');
    });
  },
  listensToExit: () => process.on('exit', (code) => console.log('exit', code)),
  failure: () => process.on('exit', () => undefined),
};
for (const name of also ?? []) await extras[name]();

console.log('asking');
if (form === 'top-level await') await askAll();
else askAll().catch((error) => console.log('failed', error.message));
