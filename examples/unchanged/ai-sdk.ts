// Ordinary code with the AI SDK, in two rounds: drafts, then each of them in fewer words. It knows
// nothing of batchling, and each round becomes a batch:
//
//   npx batchling run examples/unchanged/ai-sdk.ts
//   npx batchling exec -- npx tsx examples/unchanged/ai-sdk.ts
import { openai } from '@ai-sdk/openai';
import { generateText } from 'ai';

const model = openai('gpt-5-mini');
const topics = ['tides', 'yeast', 'magnets', 'glaciers'];

async function explain(topic: string): Promise<string> {
  const draft = await generateText({ model, prompt: `Explain ${topic} to a child.` });
  const short = await generateText({ model, prompt: `In ten words: ${draft.text}` });
  return `${topic}: ${short.text}`;
}

console.log((await Promise.all(topics.map(explain))).join('\n'));
