// Ordinary code for Azure OpenAI, with the SDK of OpenAI. It knows nothing of batchling. A batch needs a deployment
// of the type "Global Batch" or "Data Zone Batch"; batchling.config.ts names it for the online one:
//
//   export default { providers: { azure: { deployments: { 'gpt-5-mini': 'gpt-5-mini-batch' } } } };
//
//   AZURE_OPENAI_API_KEY=… AZURE_OPENAI_ENDPOINT=https://….openai.azure.com npx batchling run examples/providers/azure.mjs
import OpenAI from 'openai';

const client = new OpenAI({
  apiKey: process.env.AZURE_OPENAI_API_KEY,
  baseURL: `${process.env.AZURE_OPENAI_ENDPOINT}/openai/v1`,
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { choices } = await client.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content: `In Portuguese, one word: ${word}` }],
  });
  return `${word}: ${choices[0].message.content}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
