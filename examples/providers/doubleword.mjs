// Ordinary code for Doubleword, with the SDK of OpenAI. It knows nothing of batchling:
//
//   DOUBLEWORD_API_KEY=… npx batchling run examples/providers/doubleword.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.DOUBLEWORD_API_KEY,
  baseURL: process.env.DOUBLEWORD_BASE_URL ?? 'https://api.doubleword.ai/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'Qwen/Qwen3.5-397B-A17B-FP8',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
