// Ordinary code for OpenRouter, with the SDK of OpenAI. It knows nothing of batchling:
//
//   OPENROUTER_API_KEY=… npx batchling run examples/providers/openrouter.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.OPENROUTER_API_KEY,
  baseURL: process.env.OPENROUTER_BASE_URL ?? 'https://openrouter.ai/api/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
