import { ApiError, GoogleGenAI } from '@google/genai';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'gemini-test';

function connect({ simulator, timeout }: AskOptions): GoogleGenAI {
  const baseUrl = simulator.baseUrl('google');
  const httpOptions = { baseUrl, ...(timeout !== undefined && { timeout }) };
  return new GoogleGenAI({ apiKey: 'google-test-key', httpOptions });
}

clientCases({
  name: '@google/genai',
  packages: ['@google/genai'],
  provider: 'google',
  async ask(contents, options) {
    const { signal } = options;
    const config = signal && { abortSignal: signal };
    const question = { model, contents, ...(config && { config }) };
    return (await connect(options).models.generateContent(question)).text ?? '';
  },
  async stream(contents, options) {
    let text = '';
    const stream = await connect(options).models.generateContentStream({ model, contents });
    for await (const piece of stream) text += piece.text ?? '';
    return text;
  },
  statusOf: (error) => (error instanceof ApiError ? error.status : undefined),
});
