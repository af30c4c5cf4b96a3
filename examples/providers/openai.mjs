// Ordinary code for OpenAI, with its own SDK. It knows nothing of batchling:
//
//   OPENAI_API_KEY=… npx batchling run examples/providers/openai.mjs
import OpenAI from 'openai';

const client = new OpenAI();
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
