import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { generateText } from 'ai';
import { passThroughCases } from '../../support/clients/pass-through-cases.ts';

passThroughCases({
  name: 'ai: Google at a host that no option names',
  packages: ['ai', '@ai-sdk/google'],
  isReported: true,
  why: 'No option names the host',
  ask(origin) {
    const google = createGoogleGenerativeAI({ apiKey: 'google-test-key', baseURL: origin });
    return generateText({ model: google('gemini-test'), prompt: 'hello', maxRetries: 0 });
  },
});
