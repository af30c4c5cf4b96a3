// Two providers get the same questions, and for each question the first answer counts. Both are asked, and both are paid
// for: at half the price each that is one call at full price, with the time of the faster of two queues.
//
//   npx tsx examples/race.ts
import Anthropic from '@anthropic-ai/sdk';
import { batchify } from 'batchling';
import OpenAI from 'openai';

const openai = new OpenAI();
const anthropic = new Anthropic();
const questions = ['How do tides work?', 'What does yeast eat?', 'Why is the sky blue?'];

async function askOpenAI(content: string) {
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content }],
  });
  return { from: 'openai', text: choices[0]?.message.content ?? '' };
}

async function askAnthropic(content: string) {
  const message = await anthropic.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 200,
    messages: [{ role: 'user', content }],
  });
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { from: 'anthropic', text };
}

const scope = batchify();
const winners = await scope.run(() =>
  Promise.all(
    questions.map(async (question) => {
      // `any` and not `race`: an error of one of them does not count as an answer.
      const first = await Promise.any([askOpenAI(question), askAnthropic(question)]);
      return { question, ...first };
    }),
  ),
);
for (const winner of winners) console.log(JSON.stringify(winner));
// Nobody needs the slower ones any more; a batch that has not begun costs nothing.
await scope.cancel();
await scope.close();
