// Ordinary code for Together AI, with its own SDK. It knows nothing of batchling:
//
//   TOGETHER_API_KEY=… npx batchling run examples/providers/together.mjs
import Together from 'together-ai';

const client = new Together();
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
