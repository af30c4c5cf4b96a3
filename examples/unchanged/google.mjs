// Ordinary code with the SDK of Google Gemini. It knows nothing of batchling:
//
//   npx batchling run examples/unchanged/google.mjs
//   npx batchling exec -- node examples/unchanged/google.mjs
import { GoogleGenAI } from '@google/genai';

const google = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const animals = ['otter', 'heron', 'badger', 'newt', 'lynx', 'stork'];

async function describe(animal) {
  const { text } = await google.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: `What does the ${animal} eat?`,
    config: { temperature: 0 },
  });
  return `${animal}: ${text}`;
}

console.log((await Promise.all(animals.map(describe))).join('\n'));
