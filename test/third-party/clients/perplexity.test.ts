import Perplexity from '@perplexity-ai/perplexity_ai';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'perplexity/sonar';

function connect({ simulator, timeout }: AskOptions): Perplexity {
  return new Perplexity({
    apiKey: 'pplx-test-key',
    // Its paths begin with /v1.
    baseURL: simulator.baseUrl('perplexity').replace(/\/v1$/, ''),
    ...(timeout !== undefined && { timeout }),
  });
}

clientCases({
  name: '@perplexity-ai/perplexity_ai',
  packages: ['@perplexity-ai/perplexity_ai'],
  provider: 'perplexity',
  async ask(input, options) {
    const { signal } = options;
    const response = await connect(options).responses.create(
      { model, input },
      { ...(signal && { signal }) },
    );
    return response.output_text;
  },
  async stream(input, options) {
    const stream = await connect(options).responses.create({ model, input, stream: true });
    let text = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    return text;
  },
  statusOf: (error) => (error instanceof Perplexity.APIError ? error.status : undefined),
});
