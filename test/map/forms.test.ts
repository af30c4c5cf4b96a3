import { execFileSync } from 'node:child_process';
import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    answer: ({ prompt, body, endpoint }) => {
      const isPlain = /completions|messages|generateContent/.test(endpoint) && !hasSchema(body);
      return isPlain ? `<${prompt}>` : prompt === 'does not' ? 'no JSON' : undefined;
    },
  });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** The simulator makes up an object that fits. */
function hasSchema(body: Readonly<Record<string, unknown>>): boolean {
  return /json_schema|JsonSchema|tool_choice/.test(JSON.stringify(body));
}

describe('lines in the form of a provider', () => {
  it('of OpenAI come out as its result lines, in the order of the input', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const input = ids.map((id) => `${openaiLine(id, `ask ${id}`)}\n`).join('');
    const bench = await mapBench(stage, { 'in.jsonl': input });
    expect(await bench.map('in.jsonl', '-o', 'out.jsonl', '--batch-size', '7')).toMatchObject({
      code: 0,
    });
    const lines = await bench.lines('out.jsonl');
    expect(lines.map(({ custom_id: id }) => id)).toEqual(ids);
    expect(lines[3]).toEqual({
      id: 'line_4',
      custom_id: 'c3',
      response: {
        status_code: 200,
        request_id: expect.any(String),
        body: expect.objectContaining({
          choices: [
            expect.objectContaining({ message: expect.objectContaining({ content: '<ask c3>' }) }),
          ],
        }),
      },
      error: null,
    });
    expect(stage.simulator.meter).toMatchObject({ batched: 30, realtime: 0 });
  });

  it('of Anthropic and Gemini come out as theirs', async () => {
    const message = (text: string) => ({
      model: 'claude-haiku-4-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: text }],
    });
    const content = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });
    const bench = await mapBench(stage, {
      'a.jsonl': jsonLines([
        { custom_id: 'x', params: message('one') },
        { custom_id: 'y', params: message('two') },
      ]),
      'g.jsonl': jsonLines([{ key: 'k1', request: content('three') }]),
    });
    expect(await bench.map('a.jsonl', '-o', 'a.out')).toMatchObject({ code: 0 });
    expect(await bench.lines('a.out')).toMatchObject([
      { custom_id: 'x', result: { type: 'succeeded', message: { content: [{ text: '<one>' }] } } },
      { custom_id: 'y', result: { message: { content: [{ text: '<two>' }] } } },
    ]);
    expect(await bench.map('g.jsonl', '-o', 'g.out', '--model', 'gemini-2.5-flash')).toMatchObject({
      code: 0,
    });
    expect(await bench.lines('g.out')).toMatchObject([
      { key: 'k1', response: { candidates: [{ content: { parts: [{ text: '<three>' }] } }] } },
    ]);
  });
});

describe('rows', () => {
  const model = ['--model', 'openai/gpt-5-mini'];

  it('of a table keep their columns and get the answer as one more', async () => {
    const bench = await mapBench(stage, {
      'in.csv': '\uFEFFid,text\r\n7,"Good, ""very""\ngood"\r\n8,Bad\r\n',
      'in.tsv': 'id\ttext\n9\tA "quoted" cell\n',
    });
    const prompt = ['--prompt', 'Rate: {{text}}'];
    expect(await bench.map('in.csv', '-o', 'out.jsonl', ...model, ...prompt)).toMatchObject({
      code: 0,
    });
    expect(await bench.lines('out.jsonl')).toEqual([
      { id: '7', text: 'Good, "very"\ngood', answer: '<Rate: Good, "very"\ngood>' },
      { id: '8', text: 'Bad', answer: '<Rate: Bad>' },
    ]);
    expect(
      await bench.map('in.tsv', '-o', 'tsv.jsonl', '--into', 'rating', ...model, ...prompt),
    ).toMatchObject({ code: 0 });
    expect(await bench.lines('tsv.jsonl')).toEqual([
      { id: '9', text: 'A "quoted" cell', rating: '<Rate: A "quoted" cell>' },
    ]);
  });

  it('of a table may end in several ways in one file', async () => {
    const table = 'id,text\r\n1,a\n2,"b\r\nc"\r\n3,d\r';
    const bench = await mapBench(stage, { 'in.csv': table });
    const prompt = ['--prompt', '{{text}}'];
    expect(await bench.map('in.csv', '-o', 'out.csv', ...model, ...prompt)).toMatchObject({
      code: 0,
    });
    expect(await bench.read('out.csv')).toBe(
      'id,text,answer\n1,a,<a>\n2,"b\r\nc","<b\r\nc>"\n3,d,<d>\n',
    );
  });

  it('keep their numbers as they are written: ids of 64 bits are not rounded', async () => {
    const id = '9007199254740993123';
    const row = `{"id":${id},"price":19.90}`;
    const bench = await mapBench(stage, { 'in.jsonl': `${row}\n` });
    const prompt = ['--prompt', '{{id}} costs {{price}}'];
    expect(await bench.map('in.jsonl', '-o', 'out.csv', ...model, ...prompt)).toMatchObject({
      code: 0,
    });
    expect(await bench.read('out.csv')).toBe(`id,price,answer\n${id},19.90,<${id} costs 19.90>\n`);
    const bad = ['--prompt', '{{missing}}', '--skip-bad'];
    expect(await bench.map('in.jsonl', '-o', 'bad.jsonl', ...model, ...bad)).toMatchObject({
      code: 1,
    });
    expect(await bench.lines('bad.jsonl.errors.jsonl')).toMatchObject([{ line: 1, id }]);
  });

  it('go with --to to models that have the names of their makers in theirs', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': jsonLines([{ text: 'a' }]) });
    const environment = {
      BATCHLING_HOSTS: `${stage.simulator.baseUrl('groq')}=groq`,
      GROQ_API_KEY: 'gsk-test',
    };
    const asking = ['--to', 'groq', '--prompt', '{{text}}', '--model'];
    for (const [output, named] of [
      ['maker.jsonl', 'openai/gpt-oss-20b'],
      ['provider.jsonl', 'groq/openai/gpt-oss-20b'],
    ] as const) {
      const given = ['in.jsonl', '-o', output, ...asking, named];
      expect(await bench.with({ environment }, ...given)).toMatchObject({ code: 0 });
    }
    // The second one asks the same, and is answered from the ledger.
    expect(stage.simulator.meter.executions).toMatchObject([
      { provider: 'groq', model: 'openai/gpt-oss-20b' },
    ]);
  });

  it('come out as a table where the output is named so, quotes and line breaks included', async () => {
    const bench = await mapBench(stage, {
      'in.csv': 'id,text\r\n7,"Good, ""very""\ngood"\r\n8,Bad\r\n',
      'in.jsonl': jsonLines([
        { n: 1, tags: ['a'] },
        { n: 2, more: 'tab\there' },
      ]),
    });
    const prompt = ['--prompt', 'Rate: {{text}}'];
    const table = await bench.map('in.csv', '-o', 'out.csv', ...model, ...prompt);
    expect(table).toMatchObject({ code: 0 });
    expect(await bench.read('out.csv')).toBe(
      'id,text,answer\n' +
        '7,"Good, ""very""\ngood","<Rate: Good, ""very""\ngood>"\n' +
        '8,Bad,<Rate: Bad>\n',
    );
    // What came out is a table that may go in.
    const again = ['--prompt', '{{answer}}!', '--into', 'n', ...model];
    expect(await bench.map('out.csv', '-o', 'again.jsonl', ...again)).toMatchObject({ code: 0 });
    expect(await bench.lines('again.jsonl')).toMatchObject([
      { answer: '<Rate: Good, "very"\ngood>', n: '<<Rate: Good, "very"\ngood>!>' },
      { id: '8', n: '<<Rate: Bad>!>' },
    ]);
    const rows = ['in.jsonl', '-o', 'out.tsv', '--prompt', 'Say\n{{n}}', ...model];
    expect(await bench.map(...rows)).toMatchObject({ code: 0 });
    expect(await bench.read('out.tsv')).toBe(
      'n\ttags\tmore\tanswer\n1\t["a"]\t\t<Say\\n1>\n2\t\ttab\\there\t<Say\\n2>\n',
    );
  });

  it('are not read where they would be written, and not asked where nothing can be written', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': jsonLines([{ word: 'a' }]) });
    const asking = [...model, '--prompt', '{{word}}', '--restart'];
    const same = await bench.map('in.jsonl', '-o', './in.jsonl', ...asking);
    expect(same).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the input and the output'),
    });
    await link(join(bench.folder, 'in.jsonl'), join(bench.folder, 'linked.jsonl'));
    const linked = await bench.map('in.jsonl', '-o', 'linked.jsonl', ...asking);
    expect(linked).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('in.jsonl is the input and the output'),
    });
    expect(await bench.lines('in.jsonl')).toEqual([{ word: 'a' }]);
    const folder = await bench.map('.', '-o', 'out.jsonl', ...asking);
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining('. is a folder') });
    const device = await bench.map('in.jsonl', '-o', '/dev/null', ...asking);
    expect(device).toMatchObject({ code: 2, stderr: expect.stringContaining('is no file') });
    const nowhere = await bench.map('in.jsonl', '-o', 'missing/out.jsonl', ...asking);
    expect(nowhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
  });

  it('are a table only where they are rows', async () => {
    const bench = await mapBench(stage, { 'in.jsonl': openaiLine('a', 'one') });
    const { code, stderr } = await bench.map('in.jsonl', '-o', 'out.csv');
    expect(code).toBe(2);
    expect(stderr).toContain(
      'out.csv cannot hold a table: the answers to openai lines are lines of JSON. Name the output .jsonl.',
    );
  });

  it('may be compressed, come by standard input, and leave by standard output', async () => {
    const bench = await mapBench(stage);
    const input = jsonLines([{ word: 'a' }, { word: 'b' }]);
    await writeFile(join(bench.folder, 'in.jsonl.gz'), gzipSync(input));
    const prompt = ['--prompt', 'Say {{word}}'];
    expect(await bench.map('in.jsonl.gz', '-o', 'out.jsonl.gz', ...model, ...prompt)).toMatchObject(
      { code: 0 },
    );
    const packed = await readFile(join(bench.folder, 'out.jsonl.gz'));
    const expected = jsonLines([
      { word: 'a', answer: '<Say a>' },
      { word: 'b', answer: '<Say b>' },
    ]);
    expect(gunzipSync(packed).toString()).toBe(expected);
    expect(await bench.with({ input }, '-', ...model, ...prompt)).toMatchObject({
      code: 0,
      stdout: expected,
    });
    // The ledger had the answers.
    expect(stage.simulator.meter.batched).toBe(2);
  });

  it.skipIf(process.platform === 'win32')(
    'may come by a pipe that has a name, as <(command) does',
    async () => {
      const bench = await mapBench(stage);
      const pipe = join(bench.folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const given = ['pipe', '-o', 'out.jsonl', ...model, '--prompt', 'Say {{word}}'];
      for (const flags of [[], ['--restart']]) {
        const run = bench.map(...given, ...flags);
        await writeFile(pipe, jsonLines([{ word: 'a' }]));
        expect(await run).toMatchObject({ code: 0 });
        expect(await bench.lines('out.jsonl')).toEqual([{ word: 'a', answer: '<Say a>' }]);
      }
    },
  );

  it('with a body of one’s own take columns as values, and an embedding is its vector', async () => {
    const bench = await mapBench(stage, {
      'in.jsonl': jsonLines([{ text: 'alpha', size: 3 }]),
      'body.json': JSON.stringify({
        model: 'text-embedding-3-small',
        input: 'about {{text}}',
        dimensions: '{{size}}',
      }),
    });
    const given = ['--body', 'body.json', '--url', '/v1/embeddings', '--to', 'openai'];
    expect(await bench.map('in.jsonl', '-o', 'out.jsonl', ...given)).toMatchObject({ code: 0 });
    const [line] = await bench.lines('out.jsonl');
    expect(line).toMatchObject({ text: 'alpha', answer: expect.any(Array) });
    const [sent] = stage.simulator.meter.executions;
    expect(sent?.body).toEqual({
      model: 'text-embedding-3-small',
      input: 'about alpha',
      dimensions: 3,
    });
  });

  it.each(['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5', 'google/gemini-2.5-flash'])(
    'with a schema get an object from %s; an answer that does not fit is a failed line with its text',
    async (chosen) => {
      const schema = {
        type: 'object',
        properties: { mood: { enum: ['good', 'bad'] } },
        required: ['mood'],
        additionalProperties: false,
      };
      const bench = await mapBench(stage, {
        'in.jsonl': jsonLines([{ text: 'fits' }, { text: 'does not' }]),
        'schema.json': JSON.stringify(schema),
      });
      const given = ['--model', chosen, '--prompt', '{{text}}', '--schema', 'schema.json'];
      expect(await bench.map('in.jsonl', '-o', 'out.jsonl', ...given)).toMatchObject({ code: 1 });
      expect(await bench.lines('out.jsonl')).toEqual([
        { text: 'fits', answer: { mood: expect.stringMatching(/good|bad/) } },
      ]);
      expect(await bench.lines('out.jsonl.errors.jsonl')).toEqual([
        {
          line: 2,
          id: '2',
          status: 200,
          error: {
            type: 'unfit_answer',
            message: expect.stringContaining('JSON'),
            text: 'no JSON',
          },
        },
      ]);
    },
  );
});

describe('identical lines', () => {
  it('are samples: each has an answer of its own, and a second run has the same ones', async () => {
    const bench = await mapBench(stage, {
      'in.jsonl': jsonLines([{ n: 1 }, { n: 2 }, { n: 1 }, { n: 1 }]),
    });
    const given = ['--model', 'openai/gpt-5-mini', '--prompt', 'again'];
    const told = await bench.map('in.jsonl', '-o', 'out.jsonl', ...given, '--display', 'plain');
    expect(told).toMatchObject({ code: 0 });
    expect(told.stderr).toContain('3 lines ask the same as a line before');
    expect(stage.simulator.meter.batched).toBe(4);
    const first = await bench.read('out.jsonl');
    expect(await bench.map('in.jsonl', '-o', 'out.jsonl', '--restart', ...given)).toMatchObject({
      code: 0,
    });
    expect(await bench.read('out.jsonl')).toBe(first);
    expect(stage.simulator.meter.batched).toBe(4);
  });
});
