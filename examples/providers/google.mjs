// Ordinary code for the Gemini API, with the SDK of Google. It knows nothing of batchling:
//
//   GEMINI_API_KEY=… npx batchling run examples/providers/google.mjs
import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { text } = await client.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: `In Portuguese, one word: ${word}`,
  });
  return `${word}: ${text}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
