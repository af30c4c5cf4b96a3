import { Mistral } from '@mistralai/mistralai';
import { MistralError } from '@mistralai/mistralai/models/errors';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'mistral-test';

function connect({ simulator, timeout }: AskOptions): Mistral {
  return new Mistral({
    apiKey: 'mistral-test-key',
    // Its paths begin with /v1.
    serverURL: simulator.baseUrl('mistral').replace(/\/v1$/, ''),
    ...(timeout !== undefined && { timeoutMs: timeout }),
  });
}

clientCases({
  name: '@mistralai/mistralai',
  packages: ['@mistralai/mistralai'],
  provider: 'mistral',
  async ask(content, options) {
    const { signal } = options;
    const { choices } = await connect(options).chat.complete(
      { model, messages: [{ role: 'user', content }] },
      { ...(signal && { fetchOptions: { signal } }) },
    );
    return String(choices[0]?.message?.content);
  },
  async stream(content, options) {
    const stream = await connect(options).chat.stream({
      model,
      messages: [{ role: 'user', content }],
    });
    let text = '';
    for await (const { data } of stream) text += data.choices[0]?.delta.content ?? '';
    return text;
  },
  statusOf: (error) => (error instanceof MistralError ? error.statusCode : undefined),
});
