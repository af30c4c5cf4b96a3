import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { resultOf } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';

interface Answered {
  readonly text: string | null | undefined;
  readonly source: string | null;
}

let stage: Stage;
let options: BatchifyOptions;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  options = stage.options();
});
afterEach(() => vi.unstubAllEnvs());

/** A launch of its own, in this process: closing its scope closes its engine. */
async function launch(run: string, prompts: string[]): Promise<Answered[]> {
  vi.stubEnv('BATCHLING_RUN', run);
  const client = stage.openai();
  return batchify(
    () =>
      Promise.all(
        prompts.map(async (content) => {
          const { data, response } = await client.chat.completions
            .create({ model: 'gpt-test', messages: [{ role: 'user', content }] })
            .withResponse();
          const source = response.headers.get('x-batchling-source');
          return { text: data.choices[0]?.message.content, source };
        }),
      ),
    options,
  );
}

function inAProcess(prompts: string[]): Promise<Answered[]> {
  const baseURL = stage.simulator.baseUrl('openai');
  return resultOf<Answered[]>('ask-all', { prompts, baseURL, options });
}

const texts = (answers: Answered[]) => answers.map(({ text }) => text);
const sources = (answers: Answered[]) => new Set(answers.map(({ source }) => source));
const same = (count: number) => Array.from({ length: count }, () => 'the same question');

describe('a program that runs again on the same ledger', () => {
  const prompts = ['one', 'two', 'three'];

  it('asks again for answers that a bad disk has changed, and says so', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await launch('first', prompts);
    const file = readFileSync(options.store as string);
    file.write('!', file.indexOf('"content":"') + '"content":"'.length);
    writeFileSync(options.store as string, file);
    const second = await launch('second', prompts);
    const asked = prompts.map((prompt) => expect.stringMatching(`^answer to "${prompt}"`));
    expect(texts(second)).toEqual(asked);
    expect(sources(second)).toEqual(new Set(['batch']));
    expect(String(warned.mock.calls[0]?.[0])).toMatch(
      /^The ledger .* is damaged: .* paid for again/,
    );
    warned.mockRestore();
  });

  it('sends nothing and gets the same answers from the ledger', async () => {
    const first = await launch('first', prompts);
    const sent = stage.simulator.requests.length;
    const second = await launch('second', prompts);
    expect(sources(first)).toEqual(new Set(['batch']));
    expect(sources(second)).toEqual(new Set(['ledger']));
    expect(texts(second)).toEqual(texts(first));
    expect(texts(second)[1]).toContain('answer to "two"');
    expect(stage.simulator.requests).toHaveLength(sent);
  });

  it('does so in another process, with repeated questions in their order', async () => {
    const asked = [...prompts, ...same(10)];
    const first = await inAProcess(asked);
    const sent = stage.simulator.requests.length;
    expect(sent).toBeGreaterThan(0);
    const second = await inAProcess(asked);
    expect(sources(first)).toEqual(new Set(['batch']));
    expect(sources(second)).toEqual(new Set(['ledger']));
    expect(new Set(texts(first)).size).toBe(13);
    expect(texts(second)).toEqual(texts(first));
    expect(stage.simulator.requests).toHaveLength(sent);
    expect(stage.simulator.meter.total).toBe(13);
  });

  it('sends only what is new', async () => {
    const first = await launch('first', prompts);
    const second = await launch('second', [...prompts, 'four']);
    expect(texts(second).slice(0, 3)).toEqual(texts(first));
    expect(second[3]?.source).toBe('batch');
    expect(stage.simulator.meter.total).toBe(4);
  });

  it('pays again when it asks for fresh answers', async () => {
    const first = await launch('first', prompts);
    options = { ...options, cache: false };
    const second = await launch('second', prompts);
    expect(sources(second)).toEqual(new Set(['batch']));
    expect(texts(second)).not.toEqual(texts(first));
    expect(stage.simulator.meter.total).toBe(6);
  });

  it('asks again for what failed', async () => {
    await expect(launch('first', ['[[status 400]]'])).rejects.toThrow('simulated status 400');
    await expect(launch('second', ['[[status 400]]'])).rejects.toThrow('simulated status 400');
    expect(stage.simulator.meter.failed).toBe(2);
  });
});

describe('identical calls are samples', () => {
  it('ten of them have ten answers, and a re-run has the same ten', async () => {
    const first = await launch('first', same(10));
    expect(new Set(texts(first)).size).toBe(10);
    const second = await launch('second', same(10));
    expect(texts(second)).toEqual(texts(first));
    expect(stage.simulator.meter.total).toBe(10);
  });

  it('five in a re-run are the first five', async () => {
    const first = await launch('first', same(10));
    const second = await launch('second', same(5));
    expect(texts(second)).toEqual(texts(first).slice(0, 5));
    expect(stage.simulator.meter.total).toBe(10);
  });

  it('twelve in a re-run send only two', async () => {
    const first = await launch('first', same(10));
    const second = await launch('second', same(12));
    expect(texts(second).slice(0, 10)).toEqual(texts(first));
    expect(second.map(({ source }) => source)).toEqual([
      ...Array.from({ length: 10 }, () => 'ledger'),
      'batch',
      'batch',
    ]);
    expect(stage.simulator.meter.total).toBe(12);
  });

  it.each(['the process', 'BATCHLING_RUN'])(
    'a scope in a loop of ten draws ten, where %s is the run',
    async (run) => {
      if (run === 'BATCHLING_RUN') vi.stubEnv('BATCHLING_RUN', 'loop');
      const client = stage.openai();
      const answers = new Set<string | null | undefined>();
      for (let round = 0; round < 10; round += 1) {
        const { choices } = await batchify(
          () =>
            client.chat.completions.create({
              model: 'gpt-test',
              messages: [{ role: 'user', content: 'again' }],
            }),
          { ...options, window: '1ms' },
        );
        answers.add(choices[0]?.message.content);
      }
      expect(answers.size).toBe(10);
      expect(stage.simulator.meter.total).toBe(10);
    },
  );
});
