// Ordinary code for Groq, with its own SDK. It knows nothing of batchling:
//
//   GROQ_API_KEY=… npx batchling run examples/providers/groq.mjs
import Groq from 'groq-sdk';

const client = new Groq();
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'llama-3.3-70b-versatile',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
