// Ordinary code for SiliconFlow, with the SDK of OpenAI. It knows nothing of batchling:
//
//   SILICONFLOW_API_KEY=… npx batchling run examples/providers/siliconflow.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.SILICONFLOW_API_KEY,
  baseURL: process.env.SILICONFLOW_BASE_URL ?? 'https://api.siliconflow.cn/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'deepseek-ai/DeepSeek-V3',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
