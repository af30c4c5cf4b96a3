// Ordinary code for OVHcloud AI Endpoints, with the SDK of OpenAI. It knows nothing of batchling:
//
//   OVH_AI_ENDPOINTS_ACCESS_TOKEN=… npx batchling run examples/providers/ovhcloud.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.OVH_AI_ENDPOINTS_ACCESS_TOKEN,
  baseURL: process.env.OVHCLOUD_BASE_URL ?? 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'Meta-Llama-3_3-70B-Instruct',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
