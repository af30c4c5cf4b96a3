// Ordinary code for Anthropic, with its own SDK. It knows nothing of batchling:
//
//   ANTHROPIC_API_KEY=… npx batchling run examples/providers/anthropic.mjs
import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic();
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { content } = await client.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 50,
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${content[0].text}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
