// Ordinary code for Novita, with the SDK of OpenAI. It knows nothing of batchling:
//
//   NOVITA_API_KEY=… npx batchling run examples/providers/novita.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.NOVITA_API_KEY,
  baseURL: process.env.NOVITA_BASE_URL ?? 'https://api.novita.ai/openai/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'deepseek/deepseek-v3-turbo',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
