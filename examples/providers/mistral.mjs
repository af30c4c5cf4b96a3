// Ordinary code for Mistral, with its own SDK. It knows nothing of batchling:
//
//   MISTRAL_API_KEY=… npx batchling run examples/providers/mistral.mjs
import { Mistral } from '@mistralai/mistralai';

const client = new Mistral({
  apiKey: process.env.MISTRAL_API_KEY,
  serverURL: process.env.MISTRAL_SERVER_URL ?? 'https://api.mistral.ai',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.complete({
    model: 'mistral-small-latest',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
