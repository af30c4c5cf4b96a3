import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { until } from '../../support/until.ts';

let simulator: Simulator;
let openai: OpenAI;
let anthropic: Anthropic;

const speed = { validating: 2, running: 10, finalizing: 2, cancelling: 2 };
const { clock, skipHours } = patientClock();

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  openai = new OpenAI({
    apiKey: 'sk-one',
    baseURL: simulator.baseUrl('openai'),
    maxRetries: 0,
    organization: null,
    project: null,
  });
  anthropic = new Anthropic({
    apiKey: 'sk-ant-one',
    baseURL: simulator.baseUrl('anthropic'),
    maxRetries: 0,
  });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

async function createBatch(...prompts: string[]): Promise<OpenAI.Batch> {
  const lines = prompts.map((content, at) => {
    const body = { model: 'gpt-test', messages: [{ role: 'user', content }] };
    return JSON.stringify({
      custom_id: `r-${at}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body,
    });
  });
  const file = await toFile(Buffer.from(lines.join('\n')), 'batch.jsonl');
  const { id } = await openai.files.create({ file, purpose: 'batch' });
  return openai.batches.create({
    input_file_id: id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  });
}

/** Waits without looking: some batches count how often they are shown. */
async function ended(): Promise<void> {
  await expect
    .poll(() => simulator.batches().every(({ phase }) => phase === 'ended'), { interval: 2 })
    .toBe(true);
}

async function run(...prompts: string[]): Promise<OpenAI.Batch> {
  const { id } = await createBatch(...prompts);
  await ended();
  return openai.batches.retrieve(id);
}

interface ResultLine {
  custom_id: string;
  response: { status_code: number } | null;
  error: { code: string } | null;
}

async function read(fileId: string | null | undefined): Promise<ResultLine[]> {
  const text = await (await openai.files.content(fileId ?? '')).text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const idsOf = (lines: ResultLine[]) => lines.map((line) => line.custom_id).sort();

describe('result files of OpenAI and its copies', () => {
  it('names them only some polls after the end', async () => {
    simulator.faults.nextBatch({ lateFiles: 2 });
    const first = await run('x', '[[status 400]]');
    const second = await openai.batches.retrieve(first.id);
    const third = await openai.batches.retrieve(first.id);
    for (const batch of [first, second]) {
      expect(batch).toMatchObject({
        status: 'completed',
        output_file_id: null,
        error_file_id: null,
      });
    }
    expect(await read(third.output_file_id)).toHaveLength(1);
    expect(await read(third.error_file_id)).toHaveLength(1);
  });

  it('answers 404 for those of one batch, and not for those of the next', async () => {
    simulator.faults.nextBatch({ resultsNotFoundReads: 1e9 });
    const gone = await run('x');
    const there = await run('y');
    for (let at = 0; at < 3; at += 1) {
      await expect(read(gone.output_file_id)).rejects.toThrow(OpenAI.NotFoundError);
    }
    expect(await read(there.output_file_id)).toHaveLength(1);
  });

  it('shows an output file that grows while the batch runs, by whole lines at its end', async () => {
    simulator.configure({ earlyResults: true, speed: { running: 3_600_000 } });
    const prompts = Array.from({ length: 20 }, (_, at) => `q${at}`);
    const { id } = await createBatch(...prompts);
    await until(() => {
      skipHours(0.1);
      return simulator.meter.total > 0;
    }, 'the first lines');
    const running = await openai.batches.retrieve(id);
    expect(running).toMatchObject({ status: 'in_progress', error_file_id: null });
    const file = running.output_file_id ?? '';
    const early = await (await openai.files.content(file)).text();
    expect(early.endsWith('\n')).toBe(true);
    expect(early.trimEnd().split('\n').length).toBeLessThan(20);
    skipHours(1);
    await ended();
    expect((await openai.batches.retrieve(id)).output_file_id).toBe(file);
    const whole = await (await openai.files.content(file)).text();
    expect(whole.startsWith(early)).toBe(true);
    expect((await openai.files.retrieve(file)).bytes).toBe(Buffer.byteLength(whole));
    const ids = (await read(file)).map((line) => line.custom_id);
    expect(ids).not.toEqual(prompts.map((_, at) => `r-${at}`));
    expect(new Set(ids).size).toBe(20);
  });

  it('can have an error file of zero bytes', async () => {
    simulator.configure({ zeroByteErrorFile: true });
    expect(await read((await run('x')).error_file_id)).toEqual([]);
  });

  it('can put failed lines into the output file', async () => {
    simulator.configure({ failedLinesInOutput: true });
    const batch = await run('x', '[[status 400]]');
    expect(batch.error_file_id).toBeNull();
    expect(idsOf(await read(batch.output_file_id))).toEqual(['r-0', 'r-1']);
  });

  it('can hold an id in both files, and errors without a status', async () => {
    const batch = await run('x [[both]]', '[[unstated]]');
    expect(idsOf(await read(batch.output_file_id))).toEqual(['r-0']);
    const errors = await read(batch.error_file_id);
    expect(idsOf(errors)).toEqual(['r-0', 'r-1']);
    expect(errors.find((line) => line.custom_id === 'r-1')).toMatchObject({
      response: null,
      error: { code: 'timeout' },
    });
    expect(simulator.meter).toMatchObject({ total: 1, failed: 1 });
  });
});

describe('batches of OpenAI and its copies', () => {
  it('names each line that is marked as invalid, and runs none', async () => {
    const batch = await run('x', 'a [[invalid]]', 'b [[invalid]]');
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ line }) => line)).toEqual([2, 3]);
    expect(simulator.meter.total).toBe(0);
    expect(simulator.batches()).toMatchObject([{ total: 0, requests: 3 }]);
  });

  it('ends with another word, with errors, with a bare array of them, without counts', async () => {
    simulator.configure({ bareErrors: true, nullRequestCounts: true });
    const errors = [{ code: 'invalid_method', message: 'no', line: 4 }];
    simulator.faults.nextBatch({ finalStatus: 'COMPLETED', errors });
    const batch = await run('x');
    expect(batch).toMatchObject({ status: 'COMPLETED', errors, request_counts: null });
    expect(await read(batch.output_file_id)).toHaveLength(1);
  });

  it('can be forgotten by the provider', async () => {
    simulator.faults.nextBatch({ forgotten: true });
    const { id } = await createBatch('x');
    await expect(openai.batches.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
    expect((await openai.batches.list()).data).toEqual([]);
    await createBatch('y');
    await expect.poll(() => simulator.batches().at(-1)?.phase, { interval: 2 }).toBe('ended');
    expect(simulator.meter.executions.map(({ batchId }) => batchId)).not.toContain(id);
  });
});

describe('batches of Anthropic', () => {
  const create = (...prompts: string[]) =>
    anthropic.messages.batches.create({
      requests: prompts.map((content, at) => ({
        custom_id: `r-${at}`,
        params: { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content }] },
      })),
    });

  it('name their results only some polls after the end', async () => {
    simulator.faults.nextBatch({ lateFiles: 1 });
    const { id } = await create('x');
    await ended();
    const first = await anthropic.messages.batches.retrieve(id);
    expect(first).toMatchObject({ processing_status: 'ended', results_url: null });
    const second = await anthropic.messages.batches.retrieve(id);
    expect(second.results_url).toMatch(/results$/);
  });

  it('can lose their results', async () => {
    simulator.faults.nextBatch({ resultsNotFoundReads: 1e9 });
    const { id } = await create('x');
    await ended();
    await expect(anthropic.messages.batches.results(id)).rejects.toThrow(Anthropic.NotFoundError);
  });

  it('can hold an id twice, and errors of a type nobody knows', async () => {
    const { id } = await create('x [[both]]', '[[unstated]]');
    await ended();
    const types: string[] = [];
    for await (const { custom_id, result } of await anthropic.messages.batches.results(id)) {
      const error = result.type === 'errored' ? result.error.error.type : '';
      types.push(`${custom_id} ${result.type} ${error}`.trim());
    }
    expect(types.sort()).toEqual([
      'r-0 errored api_error',
      'r-0 succeeded',
      'r-1 errored strange_error',
    ]);
  });
});
