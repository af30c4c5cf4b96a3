import { createAnthropic } from 'ai-sdk-anthropic-v4';
import { createGoogle } from 'ai-sdk-google-v4';
import { createOpenAI } from 'ai-sdk-openai-v4';
import {
  experimental_cancelBatch as cancelBatch,
  experimental_getBatchResults as getBatchResults,
  experimental_getBatchStatus as getBatchStatus,
  experimental_listBatches as listBatches,
  experimental_startBatch as startBatch,
} from 'ai-v7';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/*
 * The AI SDK has batch functions of its own: a reading of the providers' batch pages that is not ours. Whatever
 * they understand of the simulator, and it of them, was understood twice.
 */

let simulator: Simulator;
beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const providers = {
  openai: () => createOpenAI({ apiKey: 'sk-ai', baseURL: simulator.baseUrl('openai') }),
  anthropic: () =>
    createAnthropic({ apiKey: 'sk-ai', baseURL: `${simulator.baseUrl('anthropic')}/v1` }),
  google: () => createGoogle({ apiKey: 'sk-ai', baseURL: `${simulator.baseUrl('google')}/v1beta` }),
};

describe.each(['openai', 'anthropic', 'google'] as const)(
  'the batch functions of the AI SDK at %s',
  (name) => {
    const provider = () => providers[name]();

    function start(...prompts: string[]) {
      const requests = prompts.map((prompt) => ({
        id: `about-${prompt}`,
        type: 'text' as const,
        model: 'any-model',
        maxOutputTokens: 100,
        prompt,
      }));
      return startBatch({ provider: provider(), requests });
    }

    type Started = Awaited<ReturnType<typeof start>>;

    function untilEnded(batch: Started) {
      return expect
        .poll(() => getBatchStatus({ provider: provider(), batch }))
        .not.toMatchObject({ status: 'pending' });
    }

    async function resultsOf(batch: Started) {
      const results = [];
      for await (const item of getBatchResults({ provider: provider(), batch })) results.push(item);
      return results.sort((a, b) => a.id.localeCompare(b.id));
    }

    it('bring every answer to its request', async () => {
      const batch = await start('bread', 'cheese', 'wine');
      expect(batch).toMatchObject({ status: 'pending' });
      await untilEnded(batch);
      const status = await getBatchStatus({ provider: provider(), batch });
      expect(status).toMatchObject({ status: 'completed' });
      expect(await resultsOf(batch)).toMatchObject(
        ['bread', 'cheese', 'wine'].map((prompt) => ({
          id: `about-${prompt}`,
          status: 'succeeded',
          text: expect.stringContaining(`answer to "${prompt}"`),
          finishReason: 'stop',
        })),
      );
      expect(simulator.meter.total).toBe(3);
    });

    it('tell failed requests from answered ones', async () => {
      simulator.configure({
        answer: ({ prompt }) => (prompt === 'wine' ? { status: 400, body: 'No wine.' } : undefined),
      });
      const batch = await start('bread', 'wine');
      await untilEnded(batch);
      expect(await resultsOf(batch)).toMatchObject([
        { id: 'about-bread', status: 'succeeded' },
        {
          id: 'about-wine',
          status: 'failed',
          error: { message: expect.stringContaining('No wine.') },
        },
      ]);
    });

    it.each(['expired', 'cancelled'] as const)('see which requests are %s', async (outcome) => {
      simulator.faults.nextBatch({ outcome, completedFraction: 0.5 });
      const batch = await start('bread', 'wine');
      await untilEnded(batch);
      if (name === 'google') {
        // There the whole batch is lost; the AI SDK has one word for all such ends.
        const status = await getBatchStatus({ provider: provider(), batch });
        expect(status).toMatchObject({ status: 'failed' });
        return;
      }
      const statuses = (await resultsOf(batch)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([outcome, 'succeeded']);
    });

    it('list batches and cancel one', async () => {
      simulator.hold();
      const batches = [await start('bread'), await start('wine')];
      const first = await listBatches({ provider: provider(), limit: 1 });
      expect(first.batches).toMatchObject([{ id: batches[1]?.id }]);
      const cursor = first.nextCursor ?? '';
      const second = await listBatches({ provider: provider(), limit: 1, cursor });
      expect(second.batches).toMatchObject([{ id: batches[0]?.id }]);
      expect(second.nextCursor).toBeUndefined();
      const batch = batches[0] as Started;
      await cancelBatch({ provider: provider(), batch });
      simulator.release();
      await untilEnded(batch);
      const ended = simulator.batches().find(({ id }) => batch.id.endsWith(id));
      expect(ended?.ending).toBe('cancelled');
    });
  },
);
