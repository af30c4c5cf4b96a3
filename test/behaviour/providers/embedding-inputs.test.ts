import type OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OpenAIBatcher, openaiInfo, type Route } from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

const mostInputs = 6;
let stage: Stage;

beforeEach(async () => {
  const limits = { openai: { embeddingInputsPerBatch: mostInputs } };
  stage = await openStage({ limits });
});
afterEach(() => stage.close());

/** As many inputs in a batch as a test can look through. */
class NarrowBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'narrow', hosts: [] };
  override limits(route: Pick<Route, 'endpoint' | 'model'>) {
    const limits = super.limits(route);
    return { ...limits, ...(limits.units !== undefined && { units: mostInputs }) };
  }
}

const narrow = (): BatchifyOptions =>
  stage.options({
    batchers: [NarrowBatcher],
    hosts: { [stage.simulator.baseUrl('openai')]: 'narrow' },
  });

type Input = OpenAI.EmbeddingCreateParams['input'];

/** All of them in one flush, however slow the machine is. */
function embedAll(inputs: readonly Input[], given = narrow()) {
  const client = stage.openai();
  const options = { ...given, batchSize: inputs.length, window: '1m' } as const;
  const embed = (input: Input) => client.embeddings.create({ model: 'embed-test', input });
  return soon(batchify(() => Promise.allSettled(inputs.map(embed)), options));
}

const texts = (count: number, name = 'text') =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

/** Batches may start in any order. */
const ended = () =>
  stage.simulator
    .batches()
    .map(({ ending, requests }) => `${ending} ${requests}`)
    .sort();

describe('a batch of embeddings', () => {
  it('never holds more inputs than the provider takes, and every call gets its vectors', async () => {
    const sizes = [4, 3, 2, 1, 5, 1];
    const settled = await embedAll(sizes.map((size, index) => texts(size, `${index}`)));
    const vectors = settled.map((one) => one.status === 'fulfilled' && one.value.data.length);
    expect(vectors).toEqual(sizes);
    expect(ended()).toEqual(['completed 1', 'completed 2', 'completed 3']);
    expect(stage.simulator.meter.total).toBe(sizes.length);
  });

  it('counts a list of tokens as one input', async () => {
    const settled = await embedAll([[1, 2, 3, 4, 5, 6, 7], texts(5)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(ended()).toEqual(['completed 2']);
  });

  it('is not made of a call with too many inputs, which is told so', async () => {
    const [small, large] = await embedAll([texts(2), texts(mostInputs + 1)]);
    expect(small?.status).toBe('fulfilled');
    expect(large).toMatchObject({
      status: 'rejected',
      reason: { status: 413, type: 'batchling_too_large' },
    });
    expect(ended()).toEqual(['completed 1']);
  });

  it('with more inputs is refused as a whole by the provider, and sent in parts', async () => {
    const options = stage.options();
    const settled = await embedAll([texts(4, 'a'), texts(4, 'b')], options);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(ended()).toEqual(['completed 1', 'completed 1', 'failed 2']);
  });
});
