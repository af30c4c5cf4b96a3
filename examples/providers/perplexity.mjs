// Ordinary code for Perplexity's agents, with its own SDK. It knows nothing of batchling:
//
//   PERPLEXITY_API_KEY=… npx batchling run examples/providers/perplexity.mjs
import Perplexity from '@perplexity-ai/perplexity_ai';

const client = new Perplexity();
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { output_text: text } = await client.responses.create({
    model: 'perplexity/sonar',
    input: `In Portuguese, one word: ${word}`,
  });
  return `${word}: ${text}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
