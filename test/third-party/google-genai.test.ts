import { GoogleGenAI } from '@google/genai';
import { passThroughCases } from '../support/pass-through-cases.ts';

passThroughCases({
  name: '@google/genai',
  packages: ['@google/genai'],
  isReported: true,
  ask(origin) {
    const client = new GoogleGenAI({ apiKey: 'google-test-key', httpOptions: { baseUrl: origin } });
    return client.models.generateContent({ model: 'gemini-test', contents: 'hello' });
  },
});
