// Ordinary code for Vertex AI, with the SDK of Google. It knows nothing of batchling. A batch needs a bucket of yours;
// batchling.config.ts names it, and where tokens come from:
//
//   import { googleCredential } from 'batchling/batchers';
//   export default { providers: { vertex: { bucket: 'gs://my-bucket', credential: googleCredential() } } };
//
//   GOOGLE_CLOUD_PROJECT=… npx batchling run examples/providers/vertex.mjs
import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  vertexai: true,
  project: process.env.GOOGLE_CLOUD_PROJECT,
  location: process.env.GOOGLE_CLOUD_LOCATION ?? 'us-central1',
});
const words = ['bridge', 'river', 'harbour'];

async function translate(word) {
  const { text } = await client.models.generateContent({
    model: 'gemini-2.5-flash',
    contents: `In Portuguese, one word: ${word}`,
  });
  return `${word}: ${text}`;
}

console.log((await Promise.all(words.map(translate))).join('\n'));
