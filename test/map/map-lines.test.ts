import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DryRunExit, type MapLinesOptions, type MappedLine, mapLines } from '../../src/index.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    answer: ({ prompt }) => (prompt.includes('[[') ? undefined : `<${prompt}>`),
  });
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  vi.stubEnv('OPENAI_API_KEY', 'sk-test');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

async function all(mapped: AsyncIterable<MappedLine>): Promise<MappedLine[]> {
  const found: MappedLine[] = [];
  for await (const line of mapped) found.push(line);
  return found;
}

async function* rowsUpTo(count: number) {
  for (let number = 0; number < count; number += 1) yield { id: `r${number}`, word: `w${number}` };
}

const asking = { model: 'openai/gpt-5-mini', prompt: 'Say {{word}}', canary: false } as const;

describe('mapLines', () => {
  it('yields what the model said to each row, in the order of the rows', async () => {
    const options = { ...stage.options({ batchSize: 20 }), ...asking };
    const found = await all(mapLines(rowsUpTo(50), options));
    expect(found).toHaveLength(50);
    expect(found[33]).toEqual({ line: 33, id: 'r33', answer: '<Say w33>' });
    expect(stage.simulator.batches()).toHaveLength(3);
  });

  it('sends lines as lines: none of them is a call', async () => {
    let captured = 0;
    const count = () => {
      captured += 1;
    };
    subscribe('batchling:call:captured', count);
    try {
      await all(mapLines(rowsUpTo(30), { ...stage.options({ batchSize: 10 }), ...asking }));
    } finally {
      unsubscribe('batchling:call:captured', count);
    }
    expect(captured).toBe(0);
    expect(stage.simulator.meter.summary()).toMatchObject({ total: 30, executedTwice: [] });
  });

  it('sends nothing in a dry run, which ends with what it would have cost', async () => {
    const dry = { ...stage.options(), ...asking, dryRun: true } as const;
    const error = await all(mapLines(rowsUpTo(30), dry)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DryRunExit);
    expect(error).toMatchObject({ summary: { calls: 30, batches: 1 } });
    expect(stage.simulator.requests).toEqual([]);
  });

  it('takes lines of text in the form of a provider, and tells bad and failed ones', async () => {
    const lines = [openaiLine('a', 'fine'), 'nonsense', openaiLine('c', '[[status 400]]')];
    const found = await all(mapLines(lines, { ...stage.options(), canary: false }));
    expect(found).toMatchObject([
      { id: 'a', answer: { choices: [{ message: { content: '<fine>' } }] } },
      { id: '2', error: { status: null, reason: expect.stringContaining('not JSON') } },
      { id: 'c', error: { status: 400 } },
    ]);
  });

  it('tells what is no line, and a form that it does not know', async () => {
    const options = { ...stage.options(), ...asking };
    const lines = [{ word: 'a' }, undefined, null, { word: undefined }] as object[];
    const found = await all(mapLines(lines, options));
    expect(found).toMatchObject([
      { answer: '<Say a>' },
      { error: { reason: expect.stringContaining('it is not JSON') } },
      { error: { reason: 'it is not a JSON object' } },
      { error: { reason: 'it has no column "word"' } },
    ]);
    const csv = mapLines(lines, { ...options, input: 'csv' as 'rows' });
    await expect(all(csv)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('and not "csv"'),
    });
  });

  it('pays for nothing twice when it is run again, also if its consumer had stopped early', async () => {
    const options = { ...stage.options({ batchSize: 20, name: 'words' }), ...asking };
    for await (const { line } of mapLines(rowsUpTo(50), options)) if (line === 3) break;
    const found = await all(mapLines(rowsUpTo(50), options));
    expect(found.map(({ line }) => line)).toEqual(Array.from({ length: 50 }, (_, line) => line));
    expect(stage.simulator.meter.summary()).toMatchObject({ total: 50, executedTwice: [] });
  });

  it('ends with the signal’s reason, and throws what is wrong with its options', async () => {
    const stop = new AbortController();
    stage.simulator.hold();
    const waiting = all(
      mapLines(rowsUpTo(5), { ...stage.options({ signal: stop.signal }), ...asking }),
    );
    await expect.poll(() => stage.simulator.batches().length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    stage.simulator.release();
    await expect(all(mapLines([{ a: 1 }], stage.options()))).rejects.toThrow('Rows need a model');
  });
});

describe('options that would be passed over', () => {
  const body = { model: 'gpt-5-mini', messages: [{ role: 'user', content: '{{text}}' }] };
  const url = '/v1/chat/completions';
  it.each<[string, Partial<MapLinesOptions>]>([
    ['--model does nothing beside --body', { body, url, model: 'openai/gpt-5' }],
    ['--system does nothing beside --body', { body, url, system: 'Be brief.' }],
    ['no form for a prompt at /v1/x', { model: 'anthropic/c', prompt: '{{text}}', url: '/v1/x' }],
    ['--into is for rows', { input: 'openai', into: 'said' }],
  ])('are refused: %s', async (message, options) => {
    await expect(all(mapLines([{ text: 'a' }], options))).rejects.toThrow(message);
  });
});

describe('lanes of a job', () => {
  it('one line of each kind goes first as an ordinary call; if it is refused, nothing else is sent', async () => {
    const options = { ...stage.options(), ...asking, canary: 'call' } as const;
    const good = await all(mapLines(rowsUpTo(30), options));
    expect(good.every((line) => 'answer' in line)).toBe(true);
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 29 });
    stage.simulator.reset();
    const prompt = '[[status 400]] {{word}}';
    const bad = await all(mapLines(rowsUpTo(30), { ...options, store: stage.newStore(), prompt }));
    expect(bad.every((line) => 'error' in line && line.error.status === 400)).toBe(true);
    expect(stage.simulator.batches()).toHaveLength(0);
  });

  it('lines may go out one by one, through the same ledger', async () => {
    const options = { ...stage.options({ lane: 'realtime' }), ...asking };
    expect(await all(mapLines(rowsUpTo(8), options))).toMatchObject(
      Array.from({ length: 8 }, (_, index) => ({ answer: `<Say w${index}>` })),
    );
    await all(mapLines(rowsUpTo(8), options));
    expect(stage.simulator.meter).toMatchObject({ realtime: 8, batched: 0 });
  });

  it('at its deadline a line may go out as an ordinary call', async () => {
    stage.simulator.hold();
    const late = stage.options({ deadline: '300ms', onDeadline: 'realtime' });
    const found = await all(mapLines(rowsUpTo(3), { ...late, ...asking }));
    expect(found).toMatchObject([
      { answer: '<Say w0>' },
      { answer: '<Say w1>' },
      { answer: '<Say w2>' },
    ]);
    stage.simulator.release();
    const ledger = await openLedger(late.store as string);
    const [realtime] = await ledger.costs({ by: ['lane'] });
    await ledger.close();
    expect(realtime).toMatchObject({ lane: 'realtime', calls: 3, unpriced: 0, saved: 0 });
    expect(realtime?.paid).toBeGreaterThan(0);
  });

  it('a budget that is too small fails the lines, and sends nothing', async () => {
    const found = await all(
      mapLines(rowsUpTo(3), { ...stage.options({ budget: 0.0000001 }), ...asking }),
    );
    expect(found).toMatchObject([
      { error: { status: 402 } },
      { error: { status: 402 } },
      { error: { status: 402 } },
    ]);
    expect(stage.simulator.meter.total).toBe(0);
  });
});

describe('many lines that are refused at once', () => {
  it('each come out once, and the job ends', async () => {
    const prompt = '[[status 400]] {{word}}';
    const options = {
      ...stage.options({ batchSize: 700 }),
      ...asking,
      canary: 'call',
      prompt,
    } as const;
    const found = await all(mapLines(rowsUpTo(5_000), options));
    expect(found.map(({ line }) => line)).toEqual(Array.from({ length: 5_000 }, (_, line) => line));
    expect(found.every((line) => 'error' in line && line.error.status === 400)).toBe(true);
    // One request has said it for all of them.
    expect(stage.simulator.meter.failures).toHaveLength(1);
  });
});
