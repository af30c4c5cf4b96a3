import Together from 'together-ai';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'llama-test';

function connect({ simulator, timeout }: AskOptions): Together {
  return new Together({
    apiKey: 'together-test-key',
    baseURL: simulator.baseUrl('openai'),
    ...(timeout !== undefined && { timeout }),
  });
}

clientCases({
  name: 'together-ai',
  packages: ['together-ai'],
  notes: {
    captured:
      'Tested with a `hosts` entry for an OpenAI-like service: Together itself may be asked every 30 seconds only.',
  },
  async ask(content, options) {
    const { signal } = options;
    const { choices } = await connect(options).chat.completions.create(
      { model, messages: [{ role: 'user', content }] },
      { ...(signal && { signal }) },
    );
    return choices[0]?.message?.content ?? '';
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
  statusOf: (error) => (error instanceof Together.APIError ? error.status : undefined),
});
