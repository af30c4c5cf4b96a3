// Ordinary code for Fireworks, with the SDK of OpenAI. It knows nothing of batchling:
//
//   FIREWORKS_API_KEY=… npx batchling run examples/providers/fireworks.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.FIREWORKS_API_KEY,
  baseURL: process.env.FIREWORKS_BASE_URL ?? 'https://api.fireworks.ai/inference/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'accounts/fireworks/models/gpt-oss-20b',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
