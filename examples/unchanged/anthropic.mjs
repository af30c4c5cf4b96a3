// Ordinary code with the SDK of Anthropic. It knows nothing of batchling:
//
//   npx batchling run examples/unchanged/anthropic.mjs
//   npx batchling exec -- node examples/unchanged/anthropic.mjs
import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic();
const words = ['bridge', 'river', 'harbour', 'market', 'tower', 'garden'];

async function translate(word) {
  const { content } = await anthropic.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 50,
    system: 'Translate into Portuguese. Answer with the word alone.',
    messages: [{ role: 'user', content: word }],
  });
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return `${word}: ${text}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
