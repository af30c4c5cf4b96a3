import { calcPrice, extractUsage, findProvider } from '@pydantic/genai-prices';
import { beforeAll, describe, expect, it } from 'vitest';
import { registeredBatchers } from '../../src/batchers/registry.ts';
import { ModelPrice } from '../../src/pricing/model-price.ts';
import { loadPrices } from '../../src/pricing/price-list.ts';
import { propertySeed, type Seeded, seeded } from '../support/seeded.ts';

/** Answers as a provider words them, and how the price list's own reader calls that wording. */
interface Wording {
  readonly provider: string;
  readonly listName?: string;
  readonly flavor: string;
  answer(of: Tokens): object;
}

/** A usage at random: none of the parts is larger than what it is a part of. */
type Tokens = ReturnType<typeof someTokens>;

function someTokens(random: Seeded) {
  const upTo = (most: number) => (random.next() < 0.3 ? 0 : random.between(0, most));
  // Below, at and above the lengths from which requests cost more.
  const input = random.pick([upTo(5_000), 200_000, 200_001, 272_000, upTo(900_000)]);
  const read = upTo(input);
  const written = upTo(input - read);
  const output = upTo(20_000);
  const readAudio = upTo(read);
  return {
    ...{ input, read, written, hour: upTo(written), searches: upTo(5) },
    ...{ audio: readAudio + upTo(input - read - written), readAudio },
    ...{ output, image: upTo(output), thoughts: upTo(9_000) },
  };
}

const chat = ({ input, read, written, output }: Tokens) => ({
  usage: {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  },
});

const wordings: readonly Wording[] = [
  {
    provider: 'anthropic',
    flavor: 'default',
    answer: ({ input, read, written, hour, output, searches }) => ({
      usage: {
        input_tokens: input - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        cache_creation: {
          ephemeral_5m_input_tokens: written - hour,
          ephemeral_1h_input_tokens: hour,
        },
        output_tokens: output,
        server_tool_use: { web_search_requests: searches },
      },
    }),
  },
  { provider: 'openai', flavor: 'chat', answer: chat },
  {
    provider: 'openai',
    flavor: 'responses',
    answer: ({ input, read, written, output, thoughts }) => ({
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
        output_tokens: output + thoughts,
        output_tokens_details: { reasoning_tokens: thoughts },
      },
    }),
  },
  { provider: 'azure', flavor: 'chat', answer: chat },
  { provider: 'groq', flavor: 'default', answer: chat },
  { provider: 'mistral', flavor: 'default', answer: chat },
  { provider: 'doubleword', flavor: 'chat', answer: chat },
  { provider: 'moonshot', listName: 'moonshotai', flavor: 'chat', answer: chat },
  {
    provider: 'xai',
    listName: 'x-ai',
    flavor: 'chat',
    answer: ({ input, read, output, thoughts }) => ({
      usage: {
        prompt_tokens: input,
        prompt_tokens_details: { cached_tokens: read },
        completion_tokens: output,
        completion_tokens_details: { reasoning_tokens: thoughts },
        total_tokens: input + output + thoughts,
      },
    }),
  },
  ...['google', 'vertex'].map((provider) => ({
    provider,
    listName: 'google',
    flavor: 'default',
    answer: ({ input, read, audio, readAudio, output, image, thoughts }: Tokens) => ({
      usageMetadata: {
        promptTokenCount: input,
        cachedContentTokenCount: read,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: input - audio },
          { modality: 'AUDIO', tokenCount: audio },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: read - readAudio },
          { modality: 'AUDIO', tokenCount: readAudio },
        ],
        candidatesTokenCount: output,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: image }],
        thoughtsTokenCount: thoughts,
      },
    }),
  })),
];

const seed = propertySeed();

describe(`the price of an answer is the price list's own (BATCHLING_PROPERTY_SEED=${seed})`, () => {
  beforeAll(loadPrices);

  it.each(wordings)('for all models of $provider ($flavor)', async (wording) => {
    const { provider, listName = provider, flavor } = wording;
    const registered = registeredBatchers().find(({ name }) => name === provider);
    const batcher = await registered?.load();
    const list = findProvider({ providerId: listName });
    if (batcher === undefined || list === undefined) throw new Error(`no ${provider}`);
    const random = seeded(seed);
    let compared = 0;
    for (const { id } of list.models) {
      const price = new ModelPrice(batcher.info, id);
      for (let times = 0; times < 8; times += 1) {
        const answer = { model: id, ...wording.answer(someTokens(random)) };
        const usage = batcher.usage(answer);
        const charge = usage && price.charge(usage);
        const { usage: read } = extractUsage(list, answer, flavor);
        const expected = calcPrice(read, id, { providerId: listName });
        // What is paid by the hour or by the page is not paid by the token.
        if (charge === undefined) expect(expected?.model_price.input_mtok).toBeUndefined();
        else {
          compared += 1;
          expect(charge.paid, `${id} ${JSON.stringify(answer)}`).toBeCloseTo(
            expected?.total_price ?? Number.NaN,
            9,
          );
        }
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});
