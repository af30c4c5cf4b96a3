// Ordinary code for Baidu Qianfan, with the SDK of OpenAI. It knows nothing of batchling:
//
//   QIANFAN_API_KEY=… npx batchling run examples/providers/qianfan.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.QIANFAN_API_KEY,
  baseURL: process.env.QIANFAN_BASE_URL ?? 'https://qianfan.baidubce.com/v2',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'ernie-4.5-turbo-32k',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
