import Anthropic from '@anthropic-ai/sdk';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const model = 'claude-test';

function connect({ simulator, timeout }: AskOptions): Anthropic {
  return new Anthropic({
    apiKey: 'sk-ant-test-key',
    baseURL: simulator.baseUrl('anthropic'),
    ...(timeout !== undefined && { timeout }),
  });
}

clientCases({
  name: '@anthropic-ai/sdk',
  packages: ['@anthropic-ai/sdk'],
  async ask(content, options) {
    const { signal } = options;
    const message = await connect(options).messages.create(
      { model, max_tokens: 64, messages: [{ role: 'user', content }] },
      { ...(signal && { signal }) },
    );
    const [block] = message.content;
    return block?.type === 'text' ? block.text : '';
  },
  async stream(content, options) {
    const stream = connect(options).messages.stream({
      model,
      max_tokens: 64,
      messages: [{ role: 'user', content }],
    });
    let text = '';
    stream.on('text', (piece) => {
      text += piece;
    });
    return (await stream.finalText()) === text ? text : '';
  },
  statusOf: (error) => (error instanceof Anthropic.APIError ? error.status : undefined),
});
