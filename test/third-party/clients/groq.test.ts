import Groq from 'groq-sdk';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'llama-test';

function connect({ simulator, timeout }: AskOptions): Groq {
  return new Groq({
    apiKey: 'gsk-test-key',
    // Its paths begin with /openai/v1.
    baseURL: simulator.baseUrl('groq').replace('/openai/v1', ''),
    ...(timeout !== undefined && { timeout }),
  });
}

clientCases({
  name: 'groq-sdk',
  packages: ['groq-sdk'],
  provider: 'groq',
  async ask(content, options) {
    const { signal } = options;
    const { choices } = await connect(options).chat.completions.create(
      { model, messages: [{ role: 'user', content }] },
      { ...(signal && { signal }) },
    );
    return choices[0]?.message.content ?? '';
  },
  async stream(content, options) {
    const stream = await connect(options).chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content }],
    });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    return text;
  },
  statusOf: (error) => (error instanceof Groq.APIError ? error.status : undefined),
});
