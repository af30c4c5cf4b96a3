// Ordinary code for Parasail, with the SDK of OpenAI. It knows nothing of batchling:
//
//   PARASAIL_API_KEY=… npx batchling run examples/providers/parasail.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.PARASAIL_API_KEY,
  baseURL: process.env.PARASAIL_BASE_URL ?? 'https://api.parasail.io/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'parasail-llama-33-70b-fp8',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
