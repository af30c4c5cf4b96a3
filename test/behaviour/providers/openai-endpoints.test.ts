import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { allOf } from '../../support/all-of.ts';
import { bypassesOf } from '../../support/escaping.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;
let client: OpenAI;

// A simulator for each test: warnings are told once for each host.
beforeEach(async () => {
  stage = await openStage();
  client = stage.openai();
});
afterEach(() => stage.close());

/** A call that went out at full price would fail here. */
const inBatch = <T>(fn: () => Promise<T>, given: BatchifyOptions = {}) =>
  soon(batchify(fn, stage.options({ bypass: 'error', ...given })));

const png = /^iVBORw0KGgo/;

describe('answered by a batch is a call for', () => {
  afterEach(() => {
    expect(stage.simulator.meter.realtime).toBe(0);
    expect(stage.simulator.batches()).toMatchObject([{ ending: 'completed' }]);
  });

  it('completions, with samples of several prompts', async () => {
    const prompt = ['one', 'two'];
    const body = { model: 'gpt-test', prompt, n: 2, echo: true, logprobs: 1 };
    const { choices, usage } = await inBatch(() => client.completions.create(body));
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(choices.map(({ text }) => text.slice(0, 3))).toEqual(['one', 'one', 'two', 'two']);
    expect(choices[0]?.logprobs?.tokens).toEqual([choices[0]?.text]);
    expect(usage?.total_tokens).toBeGreaterThan(0);
  });

  it('completions as a stream', async () => {
    const text = await inBatch(async () => {
      const body = { model: 'gpt-test', prompt: 'one', stream: true } as const;
      const chunks = await allOf(await client.completions.create(body));
      return chunks.map(({ choices }) => choices[0]?.text).join('');
    });
    expect(text).toContain('answer to "one"');
  });

  it('moderations, one result for each input', async () => {
    const body = { model: 'omni-moderation-latest', input: ['one', 'two'] };
    const { model, results } = await inBatch(() => client.moderations.create(body));
    expect([model, results.length]).toEqual([body.model, 2]);
    const names = Object.keys(results[0]?.categories ?? {});
    expect(names).toContain('self-harm/instructions');
    expect(Object.keys(results[0]?.category_scores ?? {})).toEqual(names);
    expect(results[0]?.category_applied_input_types.violence).toEqual(['text']);
  });

  it('moderations of a message with an image, which has one result', async () => {
    const image_url = { url: 'https://a.example/a.png' };
    const input = [
      { type: 'text' as const, text: 'one' },
      { type: 'image_url' as const, image_url },
    ];
    const body = { model: 'omni-moderation-latest', input };
    const { results } = await inBatch(() => client.moderations.create(body));
    const looked = results.map((one) => one.category_applied_input_types.violence);
    expect(looked).toEqual([['text', 'image']]);
  });

  it('images', async () => {
    const body = { model: 'gpt-image-1', prompt: 'a cat', n: 2 };
    const { data, usage } = await inBatch(() => client.images.generate(body));
    expect(data).toEqual([
      { b64_json: expect.stringMatching(png) },
      { b64_json: expect.stringMatching(png) },
    ]);
    expect(data?.[0]).not.toEqual(data?.[1]);
    expect(usage?.output_tokens).toBeGreaterThan(0);
  });

  it.each([
    ['url', { url: expect.stringMatching(/^https:/), revised_prompt: 'a cat' }],
    ['b64_json', { b64_json: expect.stringMatching(png) }],
  ] as const)('images of an older model as %s', async (response_format, image) => {
    const body = { model: 'dall-e-3', prompt: 'a cat', response_format };
    const { data } = await inBatch(() => client.images.generate(body));
    expect(data).toEqual([image]);
  });

  it('edits of images that are named in JSON', async () => {
    const images = [{ image_url: 'https://a.example/a.png' }, { file_id: 'file-1' }];
    const body = { model: 'gpt-image-1', prompt: 'a hat', images };
    const { data } = await inBatch(() =>
      client.post<OpenAI.ImagesResponse>('/images/edits', { body }),
    );
    expect(data).toHaveLength(1);
  });
});

describe('at full price, and reported, is a call for', () => {
  async function bypassed(call: () => Promise<unknown>): Promise<string[]> {
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const bypasses = bypassesOf(scope);
    await soon(scope.run(call));
    await scope.close();
    expect(stage.simulator.meter.summary()).toMatchObject({ batched: 0, realtime: 1, failed: 0 });
    return bypasses.map(({ reason }) => reason);
  }

  it('edits of images that come as a form', async () => {
    const image = await toFile(Buffer.from('png'), 'a.png');
    const body = { model: 'gpt-image-1', prompt: 'a hat', image };
    const reasons = await bypassed(async () => {
      expect((await client.images.edit(body)).data).toHaveLength(1);
    });
    expect(reasons).toEqual(['its body is not JSON text']);
  });

  it('images as a stream', async () => {
    const body = {
      model: 'gpt-image-1',
      prompt: 'a cat',
      stream: true,
      partial_images: 1,
    } as const;
    const reasons = await bypassed(async () => {
      const events = await allOf(await client.images.generate(body));
      expect(events.map(({ type }) => type)).toEqual([
        'image_generation.partial_image',
        'image_generation.completed',
      ]);
    });
    expect(reasons).toEqual([expect.stringContaining('no partial images')]);
  });

  it('moderations that leave the model to the provider', async () => {
    const reasons = await bypassed(async () => {
      const { model } = await client.moderations.create({ input: 'one' });
      expect(model).toBe('omni-moderation-latest');
    });
    expect(reasons).toEqual([expect.stringContaining('names no model')]);
  });
});
