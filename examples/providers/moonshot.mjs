// Ordinary code for Moonshot, with the SDK of OpenAI. It knows nothing of batchling:
//
//   MOONSHOT_API_KEY=… npx batchling run examples/providers/moonshot.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.MOONSHOT_API_KEY,
  baseURL: process.env.MOONSHOT_BASE_URL ?? 'https://api.moonshot.ai/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'kimi-k2-turbo-preview',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
