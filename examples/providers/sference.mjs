// Ordinary code for sference, with the SDK of OpenAI. It knows nothing of batchling:
//
//   SFERENCE_API_KEY=… npx batchling run examples/providers/sference.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.SFERENCE_API_KEY,
  baseURL: process.env.SFERENCE_BASE_URL ?? 'https://api.sference.com/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'llama-3.3-70b-instruct',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
