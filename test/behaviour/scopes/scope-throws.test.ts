import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { watchCall } from '../../support/is-told.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());

const patient = { window: '1h', maxWindow: '1h' } as const;
const mistake = new Error('a mistake of the program');

describe('a function that throws', () => {
  it('makes batchify reject with its own error', async () => {
    const asynchronous = batchify(() => Promise.reject(mistake), stage.options());
    await expect(asynchronous).rejects.toBe(mistake);
    const synchronous = batchify(() => {
      throw mistake;
    }, stage.options());
    await expect(synchronous).rejects.toBe(mistake);
  });

  it('drops calls that already wait in a queue', async () => {
    const { simulator } = stage;
    const store = stage.newStore();
    const outer = batchify(stage.options({ ...patient, store }));
    let call: { readonly isTold: boolean } | undefined;
    const failed = outer.run(() =>
      batchify(async () => {
        call = watchCall(fetch(chatUrl(stage), chatRequest('dropped')));
        const kept = outer.run(() => ask(stage.openai(), 'kept'));
        kept.catch(() => undefined);
        await until(() => outer.stats.captured === 1, 'the other call');
        throw mistake;
      }),
    );
    await expect(soon(failed)).rejects.toBe(mistake);
    await outer.close();
    expect(call?.isTold).toBe(false);
    expect(simulator.meter.total).toBe(1);
  });

  it('rejects at once while a batch is under way, which a later run collects', async () => {
    const { simulator } = stage;
    const options = stage.options();
    const client = stage.openai();
    simulator.hold();
    let pending: Promise<Response> | undefined;
    vi.stubEnv('BATCHLING_RUN', 'failing');
    const failed = batchify(async () => {
      pending = fetch(chatUrl(stage), chatRequest('sent'));
      await until(() => simulator.batches().length === 1, 'the batch');
      throw mistake;
    }, options);
    await expect(soon(failed)).rejects.toBe(mistake);
    expect(simulator.meter.total).toBe(0);
    expect(simulator.countRequests('POST', /cancel$/)).toBe(0);

    vi.stubEnv('BATCHLING_RUN', 'again');
    const collected = batchify(() => ask(client, 'sent'), options);
    simulator.release();
    expect(await soon(collected)).toContain('answer to "sent"');
    // The process has lived long enough.
    expect(await (await soon(pending as Promise<Response>)).text()).toContain('answer to');
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    expect(simulator.meter).toMatchObject({ total: 1, realtime: 0 });
  });

  it('leaves the ledger to the next run when nothing was sent', async () => {
    const options = stage.options();
    vi.stubEnv('BATCHLING_RUN', 'failing');
    const failed = batchify(
      async () => {
        fetch(chatUrl(stage), chatRequest('for later')).catch(() => undefined);
        throw mistake;
      },
      { ...options, ...patient },
    );
    await expect(failed).rejects.toBe(mistake);
    vi.stubEnv('BATCHLING_RUN', 'again');
    const answer = await soon(batchify(() => ask(stage.openai(), 'for later'), options));
    expect(answer).toContain('answer to "for later"');
    expect(stage.simulator.meter.total).toBe(1);
  });
});
