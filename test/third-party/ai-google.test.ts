import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { generateText } from 'ai';
import { passThroughCases } from '../support/pass-through-cases.ts';

passThroughCases({
  name: 'ai: Google',
  packages: ['ai', '@ai-sdk/google'],
  isReported: true,
  ask(origin) {
    const google = createGoogleGenerativeAI({ apiKey: 'google-test-key', baseURL: origin });
    return generateText({ model: google('gemini-test'), prompt: 'hello', maxRetries: 0 });
  },
});
