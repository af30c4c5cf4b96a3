import OpenAI from 'openai';
import { embed } from '../../../src/simulator/openai-like/answers/embeddings.ts';
import { type AskOptions, clientCases } from '../../support/clients/client-cases.ts';

const packages = ['openai'];
const model = 'gpt-test';

function connect({ simulator, timeout }: AskOptions): OpenAI {
  return new OpenAI({
    apiKey: 'sk-test-key',
    baseURL: simulator.baseUrl('openai'),
    ...(timeout !== undefined && { timeout }),
  });
}

function statusOf(error: unknown): number | undefined {
  return error instanceof OpenAI.APIError ? error.status : undefined;
}

/** The simulator gives nearly the same vector for the same input. */
function isOf(input: string, embedding: readonly number[]): boolean {
  const { data } = embed({ input }, 0).body as { data: { embedding: number[] }[] };
  const differences = data[0]?.embedding.map((value, index) => value - (embedding[index] ?? 0));
  return Math.hypot(...(differences ?? [1])) < 0.01;
}

clientCases({
  name: 'openai: chat completions',
  packages,
  async ask(content, options) {
    const { signal } = options;
    const { choices } = await connect(options).chat.completions.create(
      { model, messages: [{ role: 'user', content }] },
      { ...(signal && { signal }) },
    );
    return choices[0]?.message.content ?? '';
  },
  async stream(content, options) {
    const stream = connect(options).chat.completions.stream({
      model,
      messages: [{ role: 'user', content }],
    });
    let text = '';
    stream.on('content', (piece) => {
      text += piece;
    });
    const { choices } = await stream.finalChatCompletion();
    return choices[0]?.message.content === text ? text : '';
  },
  statusOf,
});

clientCases({
  name: 'openai: responses',
  packages,
  async ask(input, options) {
    const { signal } = options;
    const answer = await connect(options).responses.create(
      { model, input },
      { ...(signal && { signal }) },
    );
    return answer.output_text;
  },
  async stream(input, options) {
    const stream = connect(options).responses.stream({ model, input });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    const { output_text: whole } = await stream.finalResponse();
    return whole === text ? text : '';
  },
  statusOf,
});

clientCases({
  name: 'openai: embeddings',
  packages,
  async ask(input, options) {
    const { signal } = options;
    const { data } = await connect(options).embeddings.create(
      { model, input },
      { ...(signal && { signal }) },
    );
    return `answer to "${isOf(input, data[0]?.embedding ?? []) ? input : 'another input'}"`;
  },
  statusOf,
});
